//! Guest code as text: sections of a listing with a fixed place each.

use super::layout::ModuleSpec;
use crate::assembler::{self, AssembleError};
use std::collections::BTreeMap;

/// A name in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// `module!name`.
    pub name: String,
    /// It is code.
    pub is_code: bool,
}

/// One routine of a listing.
pub(super) struct Routine {
    module: String,
    name: String,
    address: u64,
    text: String,
}

/// A listing, placed: routines to assemble and symbols to look up.
#[derive(Default)]
pub(super) struct Listing {
    routines: Vec<Routine>,
    symbols: BTreeMap<String, Symbol>,
}

impl Listing {
    /// Adds the routines and data of `text`. Lines before a `module` line belong to `module`.
    ///
    /// The lines are `module ALIAS`, `function NAME OFFSET`, `data NAME OFFSET SIZE` (hexadecimal)
    /// and instructions. A line that is none of them ends up in the assembler, which refuses it.
    pub(super) fn add(&mut self, text: &str, modules: &[&ModuleSpec], module: &str) {
        let mut module = module.to_owned();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let base = modules
                .iter()
                .find(|spec| spec.alias == module)
                .map_or(0, |spec| spec.base);
            let hex = |word: &str| u64::from_str_radix(word, 16).unwrap_or(0);
            match words.as_slice() {
                ["module", alias] => module = (*alias).to_owned(),
                ["function", name, offset] => {
                    let address = base + hex(offset);
                    self.declare(&module, name, address, 0, true);
                    self.routines.push(Routine {
                        module: module.clone(),
                        name: (*name).to_owned(),
                        address,
                        text: String::new(),
                    });
                }
                ["data", name, offset, size] => {
                    self.declare(&module, name, base + hex(offset), hex(size), false);
                }
                _ => {
                    if let Some(routine) = self.routines.last_mut() {
                        routine.text.push_str(line);
                        routine.text.push('\n');
                    }
                }
            }
        }
    }

    fn declare(&mut self, module: &str, name: &str, address: u64, size: u64, is_code: bool) {
        let name = format!("{module}!{name}");
        self.symbols.insert(
            name.clone(),
            Symbol {
                address,
                size,
                name,
                is_code,
            },
        );
    }

    /// The address of `module!name`.
    #[must_use]
    pub(super) fn address(&self, name: &str) -> Option<u64> {
        self.symbols.get(name).map(|symbol| symbol.address)
    }

    /// Assembles every routine: address and bytes, in listing order. Afterwards the symbols know
    /// the sizes of the routines.
    ///
    /// # Errors
    /// The first statement that does not assemble.
    pub(super) fn assemble(&mut self) -> Result<Vec<(u64, Vec<u8>)>, AssembleError> {
        let mut placed = Vec::new();
        for routine in &self.routines {
            let resolve = |name: &str| {
                if name.contains('!') {
                    self.address(name)
                } else {
                    self.address(&format!("{}!{name}", routine.module))
                }
            };
            let code = assembler::assemble(&routine.text, routine.address, &resolve)?;
            placed.push((routine.address, code.bytes));
        }
        for (routine, (_, bytes)) in self.routines.iter().zip(&placed) {
            let name = format!("{}!{}", routine.module, routine.name);
            if let Some(symbol) = self.symbols.get_mut(&name) {
                symbol.size = bytes.len() as u64;
            }
        }
        Ok(placed)
    }

    /// All symbols, by address.
    #[must_use]
    pub(super) fn into_symbols(self) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = self.symbols.into_values().collect();
        symbols.sort_by_key(|symbol| symbol.address);
        symbols
    }
}
