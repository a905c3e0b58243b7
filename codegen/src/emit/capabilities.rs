//! `Engine<T>`: each function is a method that exists only where tier `T` permits it.

use quote::quote;

use super::Emitted;
use super::calls::{args_ident, reply_ident};
use super::source::{Source, doc, prose};
use super::types::ident;
use crate::surface::{BlockingKind, Function, Surface, Tier};

pub(super) fn emit(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/capabilities.rs",
        &[
            "The library's functions as methods of [`Engine`], by tier: a tool can only call what its tier permits.",
        ],
    );
    source.items(quote! {
        use super::calls::*;
        use crate::engine::{Engine, Outcome};
        use crate::tier::{Destructive, Permits, Read, State};
        use crate::tool::ToolError;

        /// The worker answered another call than the one that was made.
        fn mismatch(reply: &Reply) -> ToolError {
            ToolError::internal(format!("the worker answered another call: {reply:?}"))
        }
    });
    for (_, tier) in Tier::NAMES {
        let methods = surface
            .functions
            .iter()
            .filter(|function| function.tier == tier)
            .map(method);
        let bound = ident(tier.rust());
        source.items(quote! {
            impl<T: Permits<#bound>> Engine<T> { #(#methods)* }
        });
    }
    source.finish()
}

fn method(function: &Function) -> proc_macro2::TokenStream {
    let kind = BlockingKind::NAMES
        .iter()
        .find(|(_, kind)| *kind == function.blocking.kind)
        .map_or("", |(name, _)| name);
    let mut text = format!(
        "{}.\n\n`{}`. Wait: {kind}, {} ms at most ({}).",
        prose(&function.summary),
        function.prototype,
        function.blocking.deadline_ms,
        prose(&function.blocking.note)
    );
    if !function.notes.is_empty() {
        text.push('\n');
    }
    for note in &function.notes {
        text.push_str(&format!("\n- {}", prose(note)));
    }
    text.push_str(
        "\n\n# Errors\nWhat the session says: deadline, lost worker, missing export. The reply itself can still tell failure.",
    );
    let about = doc(&text);
    let symbol = &function.symbol;
    let alias = function
        .alias
        .as_ref()
        .filter(|alias| **alias != function.method)
        .map(|alias| quote! { #[doc(alias = #alias)] });
    let (name, variant) = (ident(&function.method), ident(&function.variant));
    let (args, reply) = (args_ident(function), reply_ident(function));
    quote! {
        #about
        #[doc(alias = #symbol)]
        #alias
        pub async fn #name(&self, args: #args) -> Result<Outcome<#reply>, ToolError> {
            self.invoke(Call::#variant(args)).await?.try_map(|reply| match reply {
                Reply::#variant(reply) => Ok(reply),
                other => Err(mismatch(&other)),
            })
        }
    }
}
