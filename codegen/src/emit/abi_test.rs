//! The two ends of the ABI test: a recording implementation of every export, and a marked call of each.

use quote::quote;

use super::Emitted;
use super::exports::{params, returns, snake};
use super::source::Source;
use super::types::{ffi_names, ident, int};
use crate::surface::{CType, Export, Library};

fn names(library: &Library) -> Vec<proc_macro2::Ident> {
    ffi_names(
        library
            .exports
            .iter()
            .flat_map(|export| export.params.iter().map(|(_, ty)| ty).chain([&export.returns])),
    )
}

/// `Word` for the enums that are passed or returned by value.
fn enum_words(library: &Library) -> proc_macro2::TokenStream {
    let passed = |name: &str| {
        library.exports.iter().any(|export| {
            let mut types = export.params.iter().map(|(_, ty)| ty).chain([&export.returns]);
            types.any(|ty| matches!(ty, CType::Enum(other) if other == name))
        })
    };
    let enums = library
        .enums
        .iter()
        .filter(|item| passed(&item.name))
        .map(|item| {
            let name = ident(&item.name);
            quote! {
                impl Word for hyperdbg_sys::#name {
                    fn from_mark(mark: u64) -> Self {
                        Self(i32::from_mark(mark))
                    }
                    fn word(self) -> u64 {
                        self.0.word()
                    }
                }
            }
        });
    quote! { #(#enums)* }
}

fn number(index: usize) -> proc_macro2::TokenStream {
    int(i128::try_from(index).unwrap_or(0))
}

/// The library's end: records the arguments of each call, and answers with a mark.
pub(super) fn emit_recorder(library: &Library) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/sys/tests/generated/recorder.rs",
        &["An implementation of every export that records its arguments and returns a mark."],
    );
    let ffi = names(library);
    source.items(quote! {
        use core::ffi::{#(#ffi),*};
        use hyperdbg_sys::*;
        use crate::generated::Api;
        use crate::word::{Word, answer, record};
    });
    source.items(enum_words(library));
    let methods = library.exports.iter().enumerate().map(|(index, export)| {
        let (name, params, returns) = (
            ident(&export.symbol),
            params(library, export),
            returns(library, export),
        );
        let number = number(index);
        let words = export.params.iter().map(|(name, _)| {
            let name = ident(&snake(name));
            quote! { #name.word() }
        });
        let answer = returns.is_some().then(|| quote! { answer(#number) });
        quote! {
            unsafe fn #name(#(#params),*) #returns {
                record(#number, &[#(#words),*]);
                #answer
            }
        }
    });
    source.items(quote! {
        impl Api for crate::Simulator { #(#methods)* }
    });
    source.finish()
}

/// The caller's end: one marked call of each export.
pub(super) fn emit_calls(library: &Library) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/sys/tests/generated/calls.rs",
        &["A call of every export through the table, with a mark of its own for each argument."],
    );
    source.items(quote! {
        use hyperdbg_sys::Exports;
        use crate::word::{Word, mark};
    });
    source.items(enum_words(library));
    let cases = library
        .exports
        .iter()
        .enumerate()
        .map(|(index, export)| case(index, export));
    let count = number(library.exports.len());
    source.items(quote! {
        /// What a call sent and got back.
        pub(crate) type Sent = (Vec<u64>, Option<u64>);

        /// One call of each export, in the order of the header; `None` where the table lacks it.
        pub(crate) const CALLS: [fn(&Exports) -> Option<Sent>; #count] = [#(#cases),*];
    });
    source.finish()
}

fn case(index: usize, export: &Export) -> proc_macro2::TokenStream {
    let field = ident(&export.symbol);
    let number = number(index);
    let names: Vec<_> = export
        .params
        .iter()
        .map(|(name, _)| ident(&snake(name)))
        .collect();
    let marks = names.iter().enumerate().map(|(at, name)| {
        let at = int(i128::try_from(at).unwrap_or(0));
        quote! { let #name = mark(#number, #at); }
    });
    let reason = super::source::safety("the recorder takes any argument and follows no pointer.");
    // The words are taken after the call, because they do not settle the types.
    let call = if export.returns == CType::Void {
        quote! {
            #reason
            unsafe { function(#(#names),*); }
            let returned = None;
        }
    } else {
        quote! {
            #reason
            let returned = Some(unsafe { function(#(#names),*) }.word());
        }
    };
    let words = names.iter().map(|name| quote! { #name.word() });
    quote! {
        |exports| {
            let function = exports.#field?;
            #(#marks)*
            #call
            Some((vec![#(#words),*], returned))
        }
    }
}
