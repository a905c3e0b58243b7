//! HyperDbg's SDK headers, read without a C compiler.
//!
//! ```text
//! source ─► lexer ─► preprocessor (macros, conditions) ─► parser ─► types
//!                                                           ├ specifiers, declarator, members, declared
//!                                                           ├ expression, value
//!                                                           └ layout (target)
//! ```
//!
//! It reads a subset of C and fails closed: what it does not support is a [`Diagnostic`]
//! with a place, never a silent skip. Everything that hostile input can blow up (expansion, includes, nesting, sizes)
//! has a bound, and passing one is such a diagnostic too.

pub mod code;
mod declarator;
mod declared;
mod expression;
mod layout;
mod lexer;
mod macros;
mod members;
mod parser;
mod preprocessor;
mod source;
mod specifiers;
pub mod target;
mod token;
mod types;
mod value;

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use macros::Macros;
use parser::Parser;
use preprocessor::Preprocessor;
pub use source::Sources;
use target::Target;
use token::Loc;
pub(crate) use token::Loc as Place;
use types::Types;
pub(crate) use types::{Parameter, Signature, Ty};

/// Name under which the prelude is shown.
pub const PRELUDE: &str = "api/prelude.h";

/// Name under which the compiler's own macros are shown.
const PREDEFINED: &str = "(predefined macros)";

/// Macros that mark an exported function. They are kept by name instead of being expanded.
pub const VISIBILITY_MACROS: &[&str] = &["IMPORT_EXPORT_LIBHYPERDBG", "IMPORT_EXPORT_CTRL"];

/// What the headers say to one compiler.
#[derive(Debug)]
pub struct Unit {
    pub(crate) sources: Sources,
    pub(crate) macros: Macros,
    pub(crate) types: Types,
    target: &'static Target,
    asked: BTreeSet<Rc<str>>,
}

impl Unit {
    /// Reads the prelude, then each of `headers` (found in the folder by name), as the compiler `target`.
    pub fn read(
        folder: &Path,
        headers: &[&str],
        prelude: &str,
        target: &'static Target,
    ) -> Result<Self, Diagnostics> {
        Self::read_in(folder, headers, prelude, target).map_err(|mut findings| {
            for finding in &mut findings {
                finding
                    .help
                    .get_or_insert_with(|| code::help(finding.code).to_owned());
            }
            findings
        })
    }

    fn read_in(
        folder: &Path,
        headers: &[&str],
        prelude: &str,
        target: &'static Target,
    ) -> Result<Self, Diagnostics> {
        let mut sources = Sources::open(folder).map_err(|finding| vec![*finding])?;
        let predefined = sources.add(PREDEFINED, target.predefined);
        let prelude = sources.add(PRELUDE, prelude);
        let mut files = vec![predefined, prelude];
        let mut findings = Diagnostics::new();
        for header in headers {
            let found = sources.find(header, None);
            match found.as_slice() {
                [path] => match sources.load(path) {
                    Ok(file) => files.push(file),
                    Err(finding) => findings.push(*finding),
                },
                [] => findings.push(
                    Diagnostic::error(
                        code::NOT_AN_SDK,
                        format!("there is no `{header}` in `{}`", folder.display()),
                    )
                    .help("name HyperDbg's folder `hyperdbg/include/SDK`"),
                ),
                several => findings.push(
                    Diagnostic::error(
                        code::INCLUDE_AMBIGUOUS,
                        format!("`{header}` is there several times: {}", several.join(", ")),
                    )
                    .help("name the SDK folder of one release"),
                ),
            }
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        let mut preprocessor = Preprocessor::new(&mut sources, target, VISIBILITY_MACROS);
        for file in files {
            preprocessor.file(file, 0);
        }
        let (macros, tokens, findings) = (preprocessor.macros, preprocessor.tokens, preprocessor.findings);
        let asked = preprocessor.asked;
        if !findings.is_empty() {
            return Err(findings);
        }
        let mut types = Types::default();
        let findings = Parser::new(&sources, target, &tokens, &mut types, NOWHERE).file();
        if !findings.is_empty() {
            return Err(findings);
        }
        Ok(Self {
            sources,
            macros,
            types,
            target,
            asked,
        })
    }

    /// Whether a condition of the headers has asked for the macro `name`.
    pub fn asked_for(&self, name: &str) -> bool {
        self.asked.contains(name)
    }

    /// Whether the file of this name is a header of the folder, and neither the prelude nor built in.
    pub fn is_header(&self, file: &str) -> bool {
        file != PRELUDE && file != PREDEFINED
    }

    /// Names of the macros without parameters in the order of definition, with the file of each.
    pub fn macro_names(&self) -> Vec<(String, String)> {
        let all = self.macros.in_order();
        let objects = all.iter().filter(|one| one.is_object());
        let named = objects.map(|one| (one.name.to_string(), self.sources.name(one.loc.file).to_owned()));
        named.collect()
    }

    /// The number that a macro stands for, and the `file:line` of its definition. Only here is the macro expanded.
    ///
    /// `None` when there is no such macro.
    pub(crate) fn constant(&mut self, name: &str) -> Option<Result<(i128, Place), Box<Diagnostic>>> {
        let definition = self.macros.get(name).filter(|one| one.is_object())?;
        let (loc, name) = (definition.loc, Rc::clone(&definition.name));
        let word = token::Token {
            kind: token::Kind::Word,
            text: name,
            loc,
            line_start: false,
            spaced: false,
            hidden: token::Hidden::default(),
            from: None,
        };
        let value = self.macros.expand(&self.sources, &[word]).and_then(|tokens| {
            Parser::new(&self.sources, self.target, &tokens, &mut self.types, loc).whole_expression()
        });
        Some(value.map(|value| (value.number(), loc)))
    }
}

/// The place of the end of an empty input.
const NOWHERE: Loc = Loc {
    file: 0,
    offset: 0,
    len: 0,
};
