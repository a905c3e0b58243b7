//! The calls in a tool's body: each must stand in `uses`.
//!
//! Seen are methods of the engine (also inside macros), helpers of the same name in a module `calls`, calls that are
//! built for a resume (`Call::…`), and listings (`Listing::…`). What a helper of another name calls is checked by its
//! types alone.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ExprMethodCall, ExprPath, ItemFn, Macro};

use crate::arguments::Use;
use crate::catalog::FUNCTIONS;
use crate::forms::{LISTINGS, RUN_COMMAND};

/// What the names of exports begin with, and those of the engine's methods do not.
const PREFIXES: [&str; 2] = ["hyperdbg_u_", "hwdbg_"];

/// The calls of `function` that `uses` does not declare, each with its place and what to say.
pub(crate) fn undeclared(function: &ItemFn, uses: &[Use]) -> Vec<syn::Error> {
    let mut body = Body {
        uses,
        errors: Vec::new(),
    };
    body.visit_block(&function.block);
    body.errors
}

struct Body<'a> {
    uses: &'a [Use],
    errors: Vec<syn::Error>,
}

impl Body<'_> {
    /// A call of the engine's method `name`.
    fn method(&mut self, name: &Ident) {
        let method = name.to_string();
        let method = method.strip_prefix("r#").unwrap_or(&method);
        let found = FUNCTIONS.iter().find(|(symbol, _)| method_of(symbol) == method);
        if let Some((symbol, _)) = found {
            self.needs(name, symbol, None);
        }
    }

    /// A path such as `Call::ReadMemory` or `Listing::Modules`.
    fn pair(&mut self, owner: &Ident, name: &Ident) {
        match owner.to_string().as_str() {
            "Engine" | "calls" => self.method(name),
            "Call" => {
                let found = FUNCTIONS.iter().find(|(symbol, _)| *name == variant_of(symbol));
                if let Some((symbol, _)) = found {
                    self.needs(name, symbol, None);
                }
            }
            "Listing" => {
                if let Some((_, line)) = LISTINGS.iter().find(|(listing, _)| name == listing) {
                    self.needs(name, RUN_COMMAND, Some(line));
                }
            }
            _ => {}
        }
    }

    /// Without a line any line may be sent; a line is declared by itself or with all of them.
    fn needs(&mut self, place: &Ident, symbol: &str, line: Option<&str>) {
        let is_declared = self.uses.iter().any(|used| {
            used.function == symbol
                && match (&used.form, line) {
                    (None, _) => true,
                    (Some(form), Some(line)) => form.value() == line,
                    (Some(_), None) => false,
                }
        });
        if !is_declared {
            let what = match line {
                Some(line) => format!("{symbol}(\"{line}\")"),
                None => symbol.to_owned(),
            };
            self.errors.push(syn::Error::new(
                place.span(),
                format!("the body calls `{what}`, which `uses` does not declare"),
            ));
        }
    }

    /// What stands inside a macro is not parsed: methods and paths are told by their tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
            let is = |token: Option<&TokenTree>, ch: char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ch);
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) if is(before(1), ':') && is(before(2), ':') => {
                    if let Some(TokenTree::Ident(owner)) = before(3) {
                        self.pair(owner, name);
                    }
                }
                // `..` is a range.
                TokenTree::Ident(name) if is(before(1), '.') && !is(before(2), '.') => {
                    let is_called = match tokens.get(at + 1) {
                        Some(TokenTree::Group(_)) => true,
                        next => is(next, ':'),
                    };
                    if is_called {
                        self.method(name);
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Body<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        visit::visit_expr(self, &call.receiver);
        self.method(&call.method);
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        let mut segments = path.path.segments.iter().rev();
        if let (Some(name), Some(owner)) = (segments.next(), segments.next()) {
            self.pair(&owner.ident, &name.ident);
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_macro(&mut self, used: &'ast Macro) {
        self.tokens(used.tokens.clone());
    }
}

fn method_of(symbol: &str) -> &str {
    PREFIXES
        .iter()
        .find_map(|prefix| symbol.strip_prefix(prefix))
        .unwrap_or(symbol)
}

/// `read_memory` as `ReadMemory`.
fn variant_of(symbol: &str) -> String {
    method_of(symbol)
        .split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_ascii_uppercase().to_string() + letters.as_str()
            })
        })
        .collect()
}
