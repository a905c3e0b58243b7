//! The git program, asked about one git directory.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::GIT;
use crate::diagnostic::Diagnostic;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// One git directory.
pub(super) struct Repository {
    folder: PathBuf,
}

impl Repository {
    /// A bare git directory, or a checkout with one in it.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let inner = folder.join(".git");
        let repository = Self {
            folder: if inner.is_dir() { inner } else { folder.to_owned() },
        };
        repository.run(&["rev-parse", "--git-dir"], &[])?;
        Ok(repository)
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        let failed = |what: String| {
            Box::new(
                Diagnostic::error(GIT, what)
                    .help("`--repo` names a git directory of HyperDbg with its tags; the program `git` must be installed"),
            )
        };
        let output = self
            .start(arguments, input)
            .map_err(|error| failed(format!("git cannot be run: {error}")))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("no reason given").to_owned();
        Err(failed(format!(
            "git {} failed: {said}",
            arguments.first().unwrap_or(&"")
        )))
    }

    fn start(&self, arguments: &[&str], input: &[u8]) -> io::Result<Output> {
        let mut child = Command::new("git")
            .arg("--git-dir")
            .arg(&self.folder)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pipe = child.stdin.take();
        std::thread::scope(|scope| {
            // git answers while it reads: a full pipe on either side must not stop both.
            let writer = scope.spawn(move || pipe.map_or(Ok(()), |mut pipe| pipe.write_all(input)));
            let output = child.wait_with_output();
            let written = writer
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the writer stopped")));
            let output = output?;
            if output.status.success() {
                written?;
            }
            Ok(output)
        })
    }

    fn lines(&self, arguments: &[&str]) -> Result<Vec<String>> {
        let output = self.run(arguments, &[])?;
        Ok(String::from_utf8_lossy(&output)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Names of all tags.
    pub(super) fn tags(&self) -> Result<Vec<String>> {
        self.lines(&["tag", "--list"])
    }

    /// Fails unless `name` is a commit.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        let wanted = format!("{name}^{{commit}}");
        self.run(
            &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted],
            &[],
        )?;
        Ok(())
    }

    /// Whether `ancestor` is part of the history of `name`.
    pub(super) fn contains(&self, name: &str, ancestor: &str) -> Result<bool> {
        let tags = self.lines(&["tag", "--list", ancestor, "--merged", name])?;
        Ok(!tags.is_empty())
    }

    /// Day of a commit.
    pub(super) fn date(&self, name: &str) -> Result<String> {
        let lines = self.lines(&["log", "-1", "--format=%cs", "--end-of-options", name])?;
        Ok(lines.into_iter().next().unwrap_or_default())
    }

    /// The files below `folder`, with the blob of each.
    fn blobs(&self, name: &str, folder: &str) -> Result<BTreeMap<String, String>> {
        let output = self.run(&["ls-tree", "-r", "-z", "--end-of-options", name, folder], &[])?;
        let output = String::from_utf8_lossy(&output);
        let entries = output.split('\0').filter_map(|entry| {
            let (facts, path) = entry.split_once('\t')?;
            let mut facts = facts.split(' ');
            let (_, kind, blob) = (facts.next()?, facts.next()?, facts.next()?);
            (kind == "blob").then(|| (path.to_owned(), blob.to_owned()))
        });
        Ok(entries.collect())
    }

    /// Paths of the files below `folder`.
    pub(super) fn files(&self, name: &str, folder: &str) -> Result<Vec<String>> {
        Ok(self.blobs(name, folder)?.into_keys().collect())
    }

    /// Writes the files below `folder` of a commit into `target`.
    pub(super) fn unpack(&self, name: &str, folder: &str, target: &Path) -> Result<()> {
        let blobs = self.blobs(name, folder)?;
        let wanted: String = blobs.values().map(|blob| format!("{blob}\n")).collect();
        let output = self.run(&["cat-file", "--batch"], wanted.as_bytes())?;
        let mut rest = output.as_slice();
        for path in blobs.keys() {
            let broken = |what: &str| {
                Box::new(
                    Diagnostic::error(GIT, format!("`{path}` of {name} {what}"))
                        .help("fetch the whole repository: a partial copy does not hold every file"),
                )
            };
            let end = rest.iter().position(|byte| *byte == b'\n');
            let end = end.ok_or_else(|| broken("is not in the answer of git"))?;
            let head = String::from_utf8_lossy(&rest[..end]);
            let size: usize = match head.split(' ').nth(2).map(str::parse) {
                Some(Ok(size)) => size,
                _ => return Err(broken("is missing in the repository")),
            };
            let body = rest[end + 1..].get(..size).ok_or_else(|| broken("is cut off"))?;
            rest = rest.get(end + 1 + size + 1..).unwrap_or_default();
            let relative = Path::new(path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/'));
            if relative
                .components()
                .any(|part| !matches!(part, Component::Normal(_)))
            {
                return Err(broken("has a path that leads elsewhere"));
            }
            let place = target.join(relative);
            let written = place.parent().map_or(Ok(()), std::fs::create_dir_all);
            written
                .and_then(|()| std::fs::write(&place, body))
                .map_err(|error| broken(&format!("cannot be unpacked: {error}")))?;
        }
        Ok(())
    }
}
