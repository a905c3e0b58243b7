//! The simulator's export skeleton: the same symbols with the same ABI, forwarded to a trait.

use quote::quote;

use super::Emitted;
use super::exports::{c_string, params, returns, snake};
use super::source::{Source, doc, safety};
use super::types::{ffi_names, ident};
use crate::surface::Library;

pub(super) fn emit(library: &Library) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/simulator/src/generated.rs",
        &[
            "The exports of libhyperdbg: each forwards to [`Api`], which the simulator implements.",
            "",
            "`crate::Simulator` is the type that implements it.",
        ],
    );
    source.allow(&["clippy::missing_safety_doc", "clippy::too_many_arguments"]);
    let types = library
        .exports
        .iter()
        .flat_map(|export| export.params.iter().map(|(_, ty)| ty).chain([&export.returns]));
    let c_void = ident("c_void");
    let mut ffi: Vec<_> = ffi_names(types)
        .into_iter()
        .filter(|name| *name != c_void)
        .collect();
    ffi.push(c_void);
    source.items(quote! {
        use core::ffi::{CStr, #(#ffi),*};
        use core::ptr::NonNull;
        use hyperdbg_sys::*;
    });
    let methods = library.exports.iter().map(|export| {
        let about = doc(&format!("`{}` ({})", export.prototype, export.origin));
        let (name, params, returns) = (
            ident(&export.symbol),
            params(library, export),
            returns(library, export),
        );
        quote! { #about unsafe fn #name(#(#params),*) #returns; }
    });
    source.items(quote! {
        /// What the simulator does for each export. Pointers are what a C caller passes: they may be null, unaligned or
        /// too short, as the library itself would get them.
        pub trait Api { #(#methods)* }
    });
    for export in &library.exports {
        let about = doc(&format!("`{}`", export.prototype));
        let (name, params, returns) = (
            ident(&export.symbol),
            params(library, export),
            returns(library, export),
        );
        let arguments = export.params.iter().map(|(name, _)| ident(&snake(name)));
        let reason = safety("the caller keeps the contract of the C function, which is the trait's.");
        let end = returns.is_none().then(|| quote! { ; });
        let call = quote! { unsafe { <crate::Simulator as Api>::#name(#(#arguments),*) #end } };
        source.items(quote! {
            #about
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn #name(#(#params),*) #returns {
                #reason
                #call
            }
        });
    }
    let arms = library.exports.iter().map(|export| {
        let (name, symbol) = (ident(&export.symbol), c_string(&export.symbol));
        let placeholders = export.params.iter().map(|_| quote! { _ });
        let returns = export_returns(library, export);
        quote! { () if symbol == #symbol => #name as unsafe extern "C" fn(#(#placeholders),*) #returns as *mut c_void }
    });
    source.items(quote! {
        /// The address of an export, for a program that the simulator is linked into.
        pub fn lookup(symbol: &CStr) -> Option<NonNull<c_void>> {
            let address = match () {
                #(#arms,)*
                () => return None,
            };
            NonNull::new(address)
        }
    });
    source.finish()
}

fn export_returns(_library: &Library, export: &crate::surface::Export) -> Option<proc_macro2::TokenStream> {
    (export.returns != crate::surface::CType::Void).then(|| quote! { -> _ })
}
