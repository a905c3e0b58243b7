//! Mode bits and owners.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Part;

const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Who besides owner and group may write, and what to do about it.
pub(super) fn inspect(place: &Path, part: Part) -> Result<Option<(String, String)>, String> {
    let mode = std::fs::metadata(place)
        .map_err(|error| error.to_string())?
        .mode();
    let open = match part {
        Part::File | Part::Folder => mode & OTHERS_WRITE != 0,
        // In a sticky folder like /tmp others can add entries, but not rename or remove ours.
        Part::Above => mode & OTHERS_WRITE != 0 && mode & STICKY == 0,
    };
    Ok(open.then(|| {
        (
            format!("everyone (mode {:04o})", mode & 0o7777),
            format!("chmod o-w '{}'", place.display()),
        )
    }))
}

/// Whether a place belongs to somebody else.
pub(super) fn owner_note(place: &Path) -> Option<String> {
    let owner = std::fs::metadata(place).ok()?.uid();
    (owner != 0 && owner != nix::unistd::geteuid().as_raw())
        .then(|| format!("{} belongs to user {owner}", place.display()))
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::super::{Access, access};

    struct Tree {
        _root: tempfile::TempDir,
        above: PathBuf,
        folder: PathBuf,
        file: PathBuf,
    }

    fn tree() -> Tree {
        let root = tempfile::tempdir().unwrap();
        let above = root.path().join("above");
        let folder = above.join("folder");
        let file = folder.join("libhyperdbg.so");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&file, "x").unwrap();
        for (place, mode) in [(&above, 0o755), (&folder, 0o755), (&file, 0o644)] {
            set_permissions(place, Permissions::from_mode(mode)).unwrap();
        }
        Tree {
            _root: root,
            above,
            folder,
            file,
        }
    }

    #[track_caller]
    fn exposed_at(access: &Access) -> &PathBuf {
        match access {
            Access::Exposed(exposed) => &exposed.place,
            other => panic!("exposed was expected, not {other:?}"),
        }
    }

    #[test]
    fn a_library_that_only_its_owner_can_write_is_closed() {
        assert_eq!(access(&tree().file), Access::Closed);
    }

    #[test]
    fn write_access_of_others_is_seen_on_file_folder_and_above() {
        for pick in [0, 1, 2] {
            let tree = tree();
            let place = [&tree.file, &tree.folder, &tree.above][pick];
            set_permissions(place, Permissions::from_mode(0o777)).unwrap();
            let access = access(&tree.file);
            assert_eq!(exposed_at(&access), place);
        }
    }

    #[test]
    fn a_sticky_folder_is_safe_above_but_not_as_the_librarys_own() {
        let tree = tree();
        set_permissions(&tree.above, Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(access(&tree.file), Access::Closed);
        set_permissions(&tree.folder, Permissions::from_mode(0o1777)).unwrap();
        let access = access(&tree.file);
        assert_eq!(exposed_at(&access), &tree.folder);
    }

    #[test]
    fn what_cannot_be_asked_is_unknown() {
        let missing = tree().file.with_file_name("nothing.so");
        assert!(matches!(access(&missing), Access::Unknown { .. }));
    }
}
