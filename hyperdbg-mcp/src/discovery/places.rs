//! Where a library is looked for: the order, and what the order consists of on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{FILE_NAME, config};

/// The environment variable that names the library.
pub const VARIABLE: &str = "HYPERDBG_LIBRARY";

/// Name of the driver, and of the service that runs it.
pub const DRIVER_SERVICE: &str = "hyperkd";

/// Where a candidate comes from, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `--library`.
    Flag,
    /// The variable [`VARIABLE`].
    Variable,
    /// The key `library` of the configuration file.
    Configuration,
    /// The folder of this program.
    BesideProgram,
    /// A folder into which HyperDbg is usually unpacked or built.
    UsualFolder,
    /// A folder of `PATH`.
    SearchPath,
    /// The folder of the driver that is registered as a service (Windows).
    DriverService,
}

impl Origin {
    /// Every origin, in the order in which they are tried.
    pub const ORDER: [Self; 7] = [
        Self::Flag,
        Self::Variable,
        Self::Configuration,
        Self::BesideProgram,
        Self::UsualFolder,
        Self::SearchPath,
        Self::DriverService,
    ];

    /// Whether somebody named the library: then it is that one or none.
    pub fn is_named(self) -> bool {
        matches!(self, Self::Flag | Self::Variable | Self::Configuration)
    }

    /// How the origin is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flag => "--library",
            Self::Variable => "HYPERDBG_LIBRARY",
            Self::Configuration => "configuration",
            Self::BesideProgram => "beside the program",
            Self::UsualFolder => "usual folder",
            Self::SearchPath => "PATH",
            Self::DriverService => "driver service",
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What the search knows of the machine; a test makes up its own.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Value of [`VARIABLE`].
    pub variable: Option<OsString>,
    /// Where the configuration file would be.
    pub config_file: Option<PathBuf>,
    /// Folder of this program.
    pub program_folder: Option<PathBuf>,
    /// Folders into which HyperDbg is usually unpacked.
    pub usual_folders: Vec<PathBuf>,
    /// Entries of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// Path of the registered driver: none when there is no such service, an error when that cannot be told.
    pub driver_image: Option<Result<PathBuf, String>>,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        Self {
            variable: std::env::var_os(VARIABLE).filter(|value| !value.is_empty()),
            config_file: config::usual_file(),
            program_folder: program_folder(),
            usual_folders: usual_folders(),
            search_path: std::env::var_os("PATH")
                .map(|path| std::env::split_paths(&path).collect())
                .unwrap_or_default(),
            driver_image: driver_image(),
        }
    }
}

/// The folder of this program, behind symbolic links.
pub fn program_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let program = dunce::canonicalize(&program).unwrap_or(program);
    program.parent().map(Path::to_owned)
}

/// The folders that a release archive or a build leaves below the folder that somebody made for HyperDbg.
fn within(folder: &Path) -> [PathBuf; 3] {
    [
        folder.to_owned(),
        folder.join("release"),
        folder.join("build").join("bin").join("release"),
    ]
}

#[cfg(windows)]
fn usual_folders() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    for variable in ["ProgramW6432", "ProgramFiles"] {
        if let Some(folder) = std::env::var_os(variable).map(PathBuf::from)
            && folder.is_absolute()
        {
            roots.push(folder.join("HyperDbg"));
        }
    }
    if roots.is_empty() {
        roots.push(PathBuf::from(r"C:\Program Files\HyperDbg"));
    }
    let drive = std::env::var("SystemDrive").unwrap_or_else(|_| "C:".to_owned());
    roots.push(PathBuf::from(format!(r"{drive}\HyperDbg")));
    roots.dedup();
    roots.iter().flat_map(|root| within(root)).collect()
}

#[cfg(not(windows))]
fn usual_folders() -> Vec<PathBuf> {
    within(Path::new("/opt/hyperdbg"))
        .into_iter()
        .chain(["/usr/local/lib", "/usr/lib"].map(PathBuf::from))
        .collect()
}

#[cfg(windows)]
fn driver_image() -> Option<Result<PathBuf, String>> {
    /// `HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)`.
    const NO_SUCH_KEY: i32 = 0x8007_0002_u32.cast_signed();
    let key = format!(r"SYSTEM\CurrentControlSet\Services\{DRIVER_SERVICE}");
    let value = windows_registry::LOCAL_MACHINE
        .open(key)
        .and_then(|key| key.get_string("ImagePath"));
    match value {
        Ok(image) => image_path(&image).map(Ok),
        Err(error) if error.code().0 == NO_SUCH_KEY => None,
        Err(error) => Some(Err(format!("the registry does not tell: {error}"))),
    }
}

#[cfg(not(windows))]
fn driver_image() -> Option<Result<PathBuf, String>> {
    None
}

/// A driver's path as the service manager writes it, as a path of files. `None` where it is relative to the system's own
/// folder: no library lies there.
#[cfg_attr(not(windows), allow(dead_code))]
fn image_path(written: &str) -> Option<PathBuf> {
    let written = written.trim().trim_matches('"');
    let written = written.strip_prefix(r"\??\").unwrap_or(written);
    let path = match written.strip_prefix(r"UNC\") {
        Some(share) => format!(r"\\{share}"),
        None => written.to_owned(),
    };
    let bytes = path.as_bytes();
    let with_drive =
        bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'\\';
    (with_drive || path.starts_with(r"\\")).then(|| PathBuf::from(path))
}

/// A place that is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) origin: Origin,
    /// The path as it was written, or the place that could not be asked.
    pub(super) path: PathBuf,
    /// Why it cannot be looked at.
    pub(super) problem: Option<String>,
}

/// Everything that is looked at, in order; what is named comes first.
pub(super) fn places(flag: Option<&Path>, around: &Surroundings) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut add = |origin, path: PathBuf, problem: Option<String>| {
        if !places
            .iter()
            .any(|place| place.path == path && place.problem == problem)
            || problem.is_some()
        {
            places.push(Place {
                origin,
                path,
                problem,
            });
        }
    };
    // A command line parser may hand the variable's value on as if it had been a flag.
    let flag = flag.filter(|path| around.variable.as_deref() != Some(path.as_os_str()));
    if let Some(path) = flag {
        add(Origin::Flag, path.to_owned(), None);
    }
    if let Some(path) = &around.variable {
        add(Origin::Variable, PathBuf::from(path), None);
    }
    if let Some(file) = &around.config_file {
        match config::read(file) {
            Ok(config) => {
                if let Some(path) = config.library {
                    add(Origin::Configuration, path, None);
                }
            }
            Err(why) => add(Origin::Configuration, file.clone(), Some(why)),
        }
    }
    if let Some(folder) = &around.program_folder {
        add(Origin::BesideProgram, folder.join(FILE_NAME), None);
    }
    for folder in &around.usual_folders {
        add(Origin::UsualFolder, folder.join(FILE_NAME), None);
    }
    for folder in &around.search_path {
        // An empty or relative entry means the current folder, where anybody may have put a library.
        if folder.is_absolute() && !super::path::on_network(folder) {
            add(Origin::SearchPath, folder.join(FILE_NAME), None);
        }
    }
    match &around.driver_image {
        Some(Ok(image)) => {
            if let Some(folder) = image.parent() {
                add(Origin::DriverService, folder.join(FILE_NAME), None);
            }
        }
        None => {}
        Some(Err(why)) => add(
            Origin::DriverService,
            PathBuf::from(DRIVER_SERVICE),
            Some(why.clone()),
        ),
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_paths_of_the_service_manager_become_file_paths() {
        for (written, expected) in [
            (r"\??\C:\Hyper Dbg\hyperkd.sys", Some(r"C:\Hyper Dbg\hyperkd.sys")),
            (r#""C:\x\hyperkd.sys""#, Some(r"C:\x\hyperkd.sys")),
            (r"\??\UNC\server\s\hyperkd.sys", Some(r"\\server\s\hyperkd.sys")),
            (r"System32\drivers\hyperkd.sys", None),
            (r"\SystemRoot\System32\drivers\hyperkd.sys", None),
            ("", None),
        ] {
            assert_eq!(image_path(written), expected.map(PathBuf::from), "{written}");
        }
    }

    #[test]
    fn the_order_is_the_documented_one() {
        let mut order = Origin::ORDER;
        order.sort();
        assert_eq!(order, Origin::ORDER);
        let page = include_str!("../../docs/finding-hyperdbg.md");
        let places: Vec<_> = Origin::ORDER
            .iter()
            .map(|origin| {
                page.find(&format!("**{origin}**"))
                    .unwrap_or_else(|| panic!("the page on finding HyperDbg does not list {origin}"))
            })
            .collect();
        assert!(places.is_sorted(), "the page lists another order");
    }

    #[test]
    fn relative_entries_of_path_are_left_out() {
        let around = Surroundings {
            search_path: vec!["".into(), ".".into(), "bin".into(), std::env::temp_dir()],
            ..Surroundings::default()
        };
        let places = places(None, &around);
        assert_eq!(places.len(), 1);
        assert_eq!(places[0].path, std::env::temp_dir().join(FILE_NAME));
    }
}
