//! Names of addresses, and addresses of names.

use super::listing::Symbol;

/// How far past the end of a symbol an address still counts as belonging to it.
const REACH: u64 = 0xffff;

/// The symbol table.
#[derive(Clone, Default)]
pub struct Symbols {
    by_address: Vec<Symbol>,
}

impl Symbols {
    pub(super) fn new(by_address: Vec<Symbol>) -> Self {
        Self { by_address }
    }

    /// All symbols, by address.
    #[must_use]
    pub fn all(&self) -> &[Symbol] {
        &self.by_address
    }

    /// The symbol called `name`. `name` without a module means `nt`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Symbol> {
        let matches = |symbol: &&Symbol| {
            let Some((module, own)) = symbol.name.split_once('!') else {
                return false;
            };
            match name.split_once('!') {
                Some((wanted, wanted_name)) => {
                    wanted_name == own
                        && (wanted.eq_ignore_ascii_case(module) || is_kernel_file(wanted, module))
                }
                None => module == "nt" && name == own,
            }
        };
        self.by_address.iter().find(matches)
    }

    /// The symbol that starts exactly at `address`.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<&Symbol> {
        let index = self
            .by_address
            .binary_search_by_key(&address, |symbol| symbol.address)
            .ok()?;
        self.by_address.get(index)
    }

    /// The last symbol at or before `address`, with the distance, if it is near enough.
    #[must_use]
    pub fn nearest(&self, address: u64) -> Option<(&Symbol, u64)> {
        let after = self
            .by_address
            .partition_point(|symbol| symbol.address <= address);
        let symbol = self.by_address.get(after.checked_sub(1)?)?;
        let distance = address - symbol.address;
        (distance <= REACH).then_some((symbol, distance))
    }
}

fn is_kernel_file(wanted: &str, module: &str) -> bool {
    module == "nt" && (wanted.eq_ignore_ascii_case("ntoskrnl") || wanted.eq_ignore_ascii_case("ntkrnlmp"))
}
