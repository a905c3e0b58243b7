//! The table of exports: each symbol is looked up on its own, and one that is missing stays `None`.

use proc_macro2::TokenStream;
use quote::quote;

use super::Emitted;
use super::source::{Source, doc, safety};
use super::types::{c_type, ffi_names, ident, int};
use crate::surface::{CType, Export, Library};

pub(super) fn emit(library: &Library) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/sys/src/generated/exports.rs",
        &["The functions that libhyperdbg exports, as a table that is filled from a loaded library."],
    );
    let ffi = ffi_names(
        library
            .exports
            .iter()
            .flat_map(|export| export.params.iter().map(|(_, ty)| ty).chain([&export.returns])),
    );
    let c_void = ident("c_void");
    let mut ffi: Vec<_> = ffi.into_iter().filter(|name| *name != c_void).collect();
    ffi.push(c_void);
    source.items(quote! {
        use core::ffi::{CStr, #(#ffi),*};
        use core::ptr::NonNull;
        use super::enums::*;
        use super::records::*;
    });
    let fields = library.exports.iter().map(|export| {
        let about = doc(&format!("`{}` ({})", export.prototype, export.origin));
        let name = ident(&export.symbol);
        let pointer = pointer_type(library, export);
        quote! { #about pub #name: Option<#pointer> }
    });
    let loads = library.exports.iter().map(|export| {
        let name = ident(&export.symbol);
        let symbol = c_string(&export.symbol);
        let pointer = pointer_type(library, export);
        // The target type stands here once more: transmuting to an inferred type would follow a typo anywhere.
        let reason =
            safety("a function pointer is an address that is not null; calling it is the caller's risk.");
        quote! {
            #name: symbol(#symbol).map(|address| {
                #reason
                unsafe { core::mem::transmute::<NonNull<c_void>, #pointer>(address) }
            })
        }
    });
    let checks = library.exports.iter().map(|export| {
        let (name, symbol) = (ident(&export.symbol), &export.symbol);
        quote! { (#symbol, self.#name.is_some()) }
    });
    let symbols = library.exports.iter().map(|export| &export.symbol);
    let count = int(i128::try_from(library.exports.len()).unwrap_or(0));
    let about_symbols = doc("Every symbol, in the order of the header.");
    source.items(quote! {
        /// The exports of one loaded library. Calling one is `unsafe`: the library must be mapped, and its rules hold.
        #[derive(Clone, Copy, Default)]
        pub struct Exports { #(#fields),* }

        impl Exports {
            #about_symbols
            pub const SYMBOLS: [&str; #count] = [#(#symbols),*];

            /// Looks every symbol up.
            pub fn load(mut symbol: impl FnMut(&CStr) -> Option<NonNull<c_void>>) -> Self {
                Self { #(#loads),* }
            }

            /// The symbols that the library lacks.
            pub fn missing(&self) -> Vec<&'static str> {
                [#(#checks),*]
                    .into_iter()
                    .filter(|(_, present)| !present)
                    .map(|(symbol, _)| symbol)
                    .collect()
            }
        }

        impl core::fmt::Debug for Exports {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("Exports").field("missing", &self.missing()).finish_non_exhaustive()
            }
        }
    });
    source.finish()
}

pub(super) fn emit_mod() -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/sys/src/generated/mod.rs",
        &["Declarations that follow from the catalog."],
    );
    source.items(quote! {
        mod enums;
        mod exports;
        mod records;
        pub use enums::*;
        pub use exports::*;
        pub use records::*;
    });
    source.finish()
}

/// `unsafe extern "C" fn(…) -> …`
pub(super) fn pointer_type(library: &Library, export: &Export) -> TokenStream {
    let params = params(library, export);
    let returns = returns(library, export);
    quote! { unsafe extern "C" fn(#(#params),*) #returns }
}

/// `name: type` of each parameter.
pub(super) fn params(library: &Library, export: &Export) -> Vec<TokenStream> {
    export
        .params
        .iter()
        .map(|(name, ty)| {
            let name = ident(&snake(name));
            let ty = c_type(library, ty);
            quote! { #name: #ty }
        })
        .collect()
}

/// `-> type`, or nothing.
pub(super) fn returns(library: &Library, export: &Export) -> Option<TokenStream> {
    (export.returns != CType::Void).then(|| {
        let ty = c_type(library, &export.returns);
        quote! { -> #ty }
    })
}

/// A C string literal.
pub(super) fn c_string(text: &str) -> TokenStream {
    let literal = proc_macro2::Literal::c_string(&std::ffi::CString::new(text).unwrap_or_default());
    quote! { #literal }
}

/// Names as Rust writes them.
pub(super) fn snake(name: &str) -> String {
    heck::ToSnakeCase::to_snake_case(name)
}
