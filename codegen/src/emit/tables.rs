//! Tables that the server reads: groups, hand-written tools, exclusions, error codes, digest; and the macro's table.

use quote::quote;

use super::Emitted;
use super::source::{Source, doc};
use super::types::{ident, int};
use crate::surface::Surface;

pub(super) fn emit_mod() -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/mod.rs",
        &[
            "What follows from `api/`: calls, capabilities, handlers and tables. Written by `cargo codegen generate`.",
        ],
    );
    source.items(quote! {
        mod calls;
        mod capabilities;
        pub mod digest;
        mod dispatch;
        pub mod errors;
        mod functions;
        pub mod handlers;
        mod tables;
        pub mod tools;
        pub use calls::*;
        pub use dispatch::{DispatchError, dispatch};
        pub use functions::*;
        pub use tables::*;
        pub use tools::TOOLS;
    });
    source.finish()
}

pub(super) fn emit_tables(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/tables.rs",
        &[
            "Groups of tools, hand-written tools with the functions they call, and functions that are no tool.",
        ],
    );
    let groups = surface.groups.iter().map(|group| {
        let (name, title, description, default) =
            (&group.name, &group.title, &group.description, group.default);
        quote! { Group { name: #name, title: #title, description: #description, default: #default } }
    });
    let composites = surface.composites.iter().map(|composite| {
        let (name, symbols) = (&composite.name, &composite.symbols);
        quote! { (#name, &[#(#symbols),*]) }
    });
    let excluded = surface.excluded.iter().map(|excluded| {
        let (symbol, kind, reason) = (&excluded.symbol, &excluded.kind, &excluded.reason);
        quote! { Excluded { symbol: #symbol, kind: #kind, reason: #reason } }
    });
    let version = &surface.sdk_version;
    source.items(quote! {
        /// Version of HyperDbg's SDK that everything here was made from.
        pub const SDK_VERSION: &str = #version;

        /// A group of tools, as `--tools` takes it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Group {
            /// Name.
            pub name: &'static str,
            /// For headings.
            pub title: &'static str,
            /// One or two sentences.
            pub description: &'static str,
            /// Whether it is served unless told otherwise.
            pub default: bool,
        }

        /// Groups by name.
        pub static GROUPS: &[Group] = &[#(#groups),*];

        /// Hand-written tools by name, with the functions that the annotations say they call.
        pub static COMPOSITES: &[(&str, &[&str])] = &[#(#composites),*];

        /// A function that no tool offers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Excluded {
            /// Exported symbol.
            pub symbol: &'static str,
            /// `test`, `engine`, `internal` or `unsafe`.
            pub kind: &'static str,
            /// Why.
            pub reason: &'static str,
        }

        /// Excluded functions, in the order of the header.
        pub static EXCLUDED: &[Excluded] = &[#(#excluded),*];
    });
    source.finish()
}

pub(super) fn emit_errors(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/errors.rs",
        &["HyperDbg's error codes: what each means and what to do next."],
    );
    let success = int(surface.success_code);
    let entries = surface.errors.iter().map(|error| {
        let code: proc_macro2::TokenStream = format!("{:#010x}", error.code).parse().unwrap_or_default();
        let (name, meaning, next_step) = (&error.name, &error.meaning, &error.next_step);
        let category = ident(&heck::ToUpperCamelCase::to_upper_camel_case(
            error.category.as_str(),
        ));
        quote! {
            ErrorInfo {
                code: #code,
                name: #name,
                meaning: #meaning,
                next_step: #next_step,
                category: Category::#category,
            }
        }
    });
    source.items(quote! {
        use crate::tool::Category;

        /// One error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct ErrorInfo {
            /// Value.
            pub code: u32,
            /// Name in the SDK.
            pub name: &'static str,
            /// What it means.
            pub meaning: &'static str,
            /// What to do now.
            pub next_step: &'static str,
            /// Category of the tool error.
            pub category: Category,
        }

        /// The status that means success.
        pub const SUCCESS: u32 = #success;

        /// Every code, ascending.
        pub static ERRORS: &[ErrorInfo] = &[#(#entries),*];

        /// What is known of a code.
        pub fn lookup(code: u32) -> Option<&'static ErrorInfo> {
            ERRORS
                .binary_search_by_key(&code, |info| info.code)
                .ok()
                .and_then(|at| ERRORS.get(at))
        }
    });
    source.finish()
}

/// `files` are the paths below `api/` with the digest of each.
pub(super) fn emit_digest(files: &[(String, String)]) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/digest.rs",
        &["Digests of the files in `api/` that the generated code was made from; the build compares them."],
    );
    let entries = files.iter().map(|(path, digest)| quote! { (#path, #digest) });
    source.items(quote! {
        /// Paths below `api/` with the SHA-256 of each, line endings normalised.
        pub const FILES: &[(&str, &str)] = &[#(#entries),*];
    });
    source.finish()
}

pub(super) fn emit_macro_table(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "macros/src/catalog.rs",
        &["The functions that tools may call, with their tiers."],
    );
    let mut functions: Vec<_> = surface
        .functions
        .iter()
        .map(|function| (&function.symbol, function.tier.name()))
        .collect();
    functions.sort();
    let entries = functions.iter().map(|(symbol, tier)| quote! { (#symbol, #tier) });
    let about = doc("Symbol and tier, by symbol.");
    source.items(quote! {
        #about
        pub(crate) static FUNCTIONS: &[(&str, &str)] = &[#(#entries),*];
    });
    source.finish()
}
