use std::path::PathBuf;

use super::image::sample::Sample;
use super::*;

/// A folder that only this user can write, behind symbolic links.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        dunce::canonicalize(self.0.path()).unwrap()
    }

    /// A folder with a library in it.
    fn library(&self, folder: &str) -> PathBuf {
        let file = self.path().join(folder).join(FILE_NAME);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, Sample::native(&Exports::SYMBOLS, &[])).unwrap();
        file
    }
}

fn around() -> Surroundings {
    Surroundings::default()
}

fn by_flag(path: impl Into<PathBuf>) -> Request {
    Request {
        library: Some(path.into()),
        // Temporary folders are open to all in some places where tests are run.
        allow_writable_folder: true,
    }
}

fn anywhere() -> Request {
    Request {
        library: None,
        allow_writable_folder: true,
    }
}

#[track_caller]
fn taken(search: &Search) -> (&Origin, &Path) {
    let library = search
        .library
        .as_ref()
        .unwrap_or_else(|| panic!("nothing was taken:{}", list(&search.candidates)));
    (&library.origin, &library.path)
}

#[track_caller]
fn refused(search: &Search) -> &Refusal {
    assert!(search.library.is_none());
    search
        .candidates
        .iter()
        .find_map(|candidate| match &candidate.verdict {
            Verdict::Refused { reason, .. } => Some(reason),
            _ => None,
        })
        .unwrap_or_else(|| panic!("nothing was refused:{}", list(&search.candidates)))
}

#[test]
fn the_first_place_in_the_order_that_has_a_library_wins() {
    let place = Place::new();
    let files: Vec<PathBuf> = ["flag", "variable", "config", "beside", "usual", "path", "driver"]
        .iter()
        .map(|folder| place.library(folder))
        .collect();
    let config = place.path().join("config.toml");
    std::fs::write(&config, format!("library = '{}'", files[2].display())).unwrap();
    let folder = |index: usize| files[index].parent().unwrap().to_owned();
    let mut surroundings = Surroundings {
        variable: Some(files[1].clone().into()),
        config_file: Some(config.clone()),
        program_folder: Some(folder(3)),
        usual_folders: vec![place.path().join("nothing"), folder(4)],
        search_path: vec![folder(5)],
        driver_image: Some(Ok(folder(6).join("hyperkd.sys"))),
    };
    let mut request = by_flag(&files[0]);
    for (index, origin) in Origin::ORDER.iter().enumerate() {
        let found = search(&request, &surroundings);
        assert_eq!(taken(&found), (origin, files[index].as_path()));
        let later = found
            .candidates
            .iter()
            .skip_while(|candidate| candidate.verdict != Verdict::Taken)
            .skip(1);
        for candidate in later {
            assert_eq!(candidate.verdict, Verdict::NotTried);
        }
        match origin {
            Origin::Flag => request.library = None,
            Origin::Variable => surroundings.variable = None,
            Origin::Configuration => std::fs::write(&config, "").unwrap(),
            _ => std::fs::remove_file(&files[index]).unwrap(),
        }
    }
    let nothing = search(&request, &surroundings);
    assert_eq!(nothing.library, None);
}

#[test]
fn a_folder_stands_for_the_library_in_it() {
    let place = Place::new();
    let file = place.library("Ordner mit Ümlaut 日本");
    let found = search(&by_flag(file.parent().unwrap()), &around());
    assert_eq!(taken(&found), (&Origin::Flag, file.as_path()));
    let empty = search(&by_flag(place.path()), &around());
    assert_eq!(refused(&empty), &Refusal::EmptyFolder);
}

#[test]
fn what_is_named_and_unfit_is_not_replaced_by_another() {
    let place = Place::new();
    let good = place.library("beside");
    let surroundings = Surroundings {
        variable: Some(place.path().join("nothing").into()),
        program_folder: good.parent().map(Path::to_owned),
        ..around()
    };
    let found = search(&anywhere(), &surroundings);
    assert_eq!(refused(&found), &Refusal::NotThere);
    assert_eq!(found.candidates.last().unwrap().verdict, Verdict::NotTried);
    let error = NotFound {
        candidates: found.candidates,
    };
    let text = error.to_string();
    assert!(
        text.contains("named by HYPERDBG_LIBRARY cannot be used"),
        "{text}"
    );
}

#[test]
fn what_is_found_and_unfit_is_passed_over_with_its_reason() {
    let place = Place::new();
    let good = place.library("usual");
    let bad = place.library("beside");
    std::fs::write(&bad, "not a library\n").unwrap();
    let surroundings = Surroundings {
        program_folder: bad.parent().map(Path::to_owned),
        usual_folders: vec![good.parent().unwrap().to_owned()],
        ..around()
    };
    let found = search(&anywhere(), &surroundings);
    assert_eq!(taken(&found), (&Origin::UsualFolder, good.as_path()));
    let text = list(&found.candidates);
    assert!(
        text.contains("beside the program") && text.contains("a text file"),
        "{text}"
    );
}

#[test]
fn a_library_in_the_current_folder_is_not_looked_for() {
    // The search has no notion of it: bare names are refused, relative entries of PATH left out.
    let bare = search(&by_flag(FILE_NAME), &around());
    assert!(matches!(refused(&bare), Refusal::BadPath { .. }));
    let relative = Surroundings {
        variable: Some(format!("./{FILE_NAME}").into()),
        ..around()
    };
    assert!(matches!(
        refused(&search(&anywhere(), &relative)),
        Refusal::BadPath { .. }
    ));
    let path = Surroundings {
        search_path: vec!["".into(), ".".into()],
        ..around()
    };
    assert_eq!(search(&anywhere(), &path).candidates, []);
}

#[test]
fn a_broken_configuration_is_an_error_and_not_a_default() {
    let place = Place::new();
    let config = place.path().join("config.toml");
    std::fs::write(&config, "library = [").unwrap();
    let surroundings = Surroundings {
        config_file: Some(config),
        ..around()
    };
    let found = search(&anywhere(), &surroundings);
    assert!(matches!(refused(&found), Refusal::BadPath { why } if why.contains("line 1")));
}

#[test]
fn a_library_of_something_else_is_refused() {
    let place = Place::new();
    let file = place.library("a");
    for (exports, expected) in [
        (&["unrelated"][..], "none of HyperDbg's functions"),
        (&["HyperDbgInterpreter"][..], "before v0.9.1"),
    ] {
        std::fs::write(&file, Sample::native(exports, &[])).unwrap();
        let found = search(&by_flag(&file), &around());
        assert!(refused(&found).to_string().contains(expected));
    }
}

#[test]
fn the_simulator_is_taken_only_when_it_is_named() {
    let place = Place::new();
    let file = place.library("a");
    std::fs::write(
        &file,
        Sample::native(&["hyperdbg_u_run_command", SIMULATOR_MARK], &[]),
    )
    .unwrap();
    let named = search(&by_flag(&file), &around());
    assert!(named.library.unwrap().simulator);
    let beside = Surroundings {
        program_folder: file.parent().map(Path::to_owned),
        ..around()
    };
    assert_eq!(refused(&search(&anywhere(), &beside)), &Refusal::Simulator);
}

#[test]
fn a_library_is_described_by_its_facts() {
    let place = Place::new();
    let file = place.library("a");
    let mut some = Exports::SYMBOLS.to_vec();
    some.retain(|name| *name != "hyperdbg_u_assemble");
    std::fs::write(&file, Sample::native(&some, &["libc.so.6"])).unwrap();
    let library = search(&by_flag(&file), &around()).library.unwrap();
    assert_eq!(
        (library.present, library.missing.as_slice()),
        (72, &["hyperdbg_u_assemble"][..])
    );
    assert_eq!(library.size_bytes, std::fs::metadata(&file).unwrap().len());
    assert_eq!(
        library.sha256,
        hex(&Sha256::digest(std::fs::read(&file).unwrap()))
    );
    assert_eq!(library.sha256.len(), 64);
    assert_eq!(library.folder(), file.parent().unwrap());
    assert_eq!(library.release.unwrap().tags, ["v0.23"]);
}

#[test]
fn a_folder_of_the_librarys_name_is_no_library() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join(FILE_NAME).join(FILE_NAME)).unwrap();
    let found = search(&by_flag(place.path()), &around());
    assert_eq!(refused(&found), &Refusal::NotAFile);
}

#[cfg(unix)]
mod unix {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn strict(path: &Path) -> Request {
        Request {
            library: Some(path.to_owned()),
            allow_writable_folder: false,
        }
    }

    #[test]
    fn a_library_in_a_folder_that_all_can_write_is_refused_unless_told() {
        let place = Place::new();
        let file = place.library("open");
        assert!(search(&strict(&file), &around()).library.is_some());
        set_permissions(file.parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
        let found = search(&strict(&file), &around());
        let reason = refused(&found);
        assert!(reason.to_string().contains("plant one"), "{reason}");
        assert!(reason.next_step().contains("--allow-writable-folder"));
        let told = search(&by_flag(&file), &around()).library.unwrap();
        assert!(matches!(told.access, Access::Exposed(_)));
    }

    #[test]
    fn a_link_is_followed_and_its_own_folder_is_looked_at_too() {
        let place = Place::new();
        let file = place.library("real");
        let links = place.path().join("links");
        std::fs::create_dir(&links).unwrap();
        std::os::unix::fs::symlink(&file, links.join(FILE_NAME)).unwrap();
        let found = search(&strict(&links), &around());
        assert_eq!(taken(&found), (&Origin::Flag, file.as_path()));
        set_permissions(&links, Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            refused(&search(&strict(&links), &around())),
            Refusal::WritableByOthers(_)
        ));
    }

    #[test]
    fn devices_and_pipes_are_not_opened() {
        let found = search(&strict(Path::new("/dev/zero")), &around());
        assert_eq!(refused(&found), &Refusal::NotAFile);
        let place = Place::new();
        let pipe = place.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let found = search(&strict(&pipe), &around());
        assert_eq!(refused(&found), &Refusal::NotAFile);
    }
}
