//! The worker's side of a call: from typed arguments to C and back.

mod arguments;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Emitted;
use super::calls::{args_ident, is_long, portable, reply_ident};
use super::exports::snake;
use super::source::{Source, doc, safety};
use super::types::{c_type, ident, int};
use crate::surface::{
    CType, Encoding, Form, Function, Input, InputKind, Library, OutputKind, Param, Pass, Surface,
};

pub(super) fn emit(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/dispatch.rs",
        &[
            "Makes typed calls on a loaded library: buffers, terminators, capacities and records are settled here.",
            "",
            "Runs in the worker process, on the thread that owns the library.",
        ],
    );
    source.allow(&[
        "clippy::cast_possible_truncation",
        "clippy::needless_pass_by_value",
        "clippy::useless_conversion",
        "clippy::unnecessary_cast",
    ]);
    let long = surface
        .library
        .exports
        .iter()
        .flat_map(|export| export.params.iter().map(|(_, ty)| ty))
        .any(is_long);
    let long = long.then(|| quote! { use std::ffi::c_ulong; });
    source.items(quote! {
        #long
        use hyperdbg_sys::*;
        use super::calls::*;

        /// Why a call could not be made.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum DispatchError {
            /// The library lacks the symbol.
            MissingExport(&'static str),
            /// An argument cannot be handed to C.
            BadArgument {
                /// The function.
                symbol: &'static str,
                /// The argument.
                param: &'static str,
                /// What is wrong with it; completes a sentence about it.
                why: String,
            },
            /// The library lacks what the call needs beside the function, as its SDK says.
            Mismatch {
                /// The function.
                symbol: &'static str,
                /// What is missing.
                why: String,
            },
        }

        impl std::fmt::Display for DispatchError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    Self::MissingExport(symbol) => write!(f, "the library does not export {symbol}"),
                    Self::BadArgument { symbol, param, why } => write!(f, "{symbol} cannot take {param}: {why}"),
                    Self::Mismatch { symbol, why } => write!(f, "{symbol} cannot be called: {why}"),
                }
            }
        }

        impl std::error::Error for DispatchError {}

        /// Addresses of the target are 64-bit; they are handed over as pointers of this process.
        const _: () = assert!(usize::BITS == 64);
    });
    let arms = surface.functions.iter().map(|function| {
        let (variant, method) = (ident(&function.variant), ident(&function.method));
        let reason = safety("the caller keeps this function's contract, which is the same.");
        quote! {
            Call::#variant(args) => {
                #reason
                unsafe { #method(exports, layout, args) }.map(Reply::#variant)
            }
        }
    });
    source.items(quote! {
        /// Makes one call, with the numbers and places of `layout`.
        ///
        /// # Safety
        /// `exports` is the table of a library that is mapped, initialised as its callers must, and used by no other
        /// thread meanwhile. `layout` says what is otherwise there than in the SDK that this was made from.
        ///
        /// # Errors
        /// When the call was not made.
        pub unsafe fn dispatch(exports: &Exports, layout: &Layout, call: Call) -> Result<Reply, DispatchError> {
            match call { #(#arms),* }
        }
    });
    for function in &surface.functions {
        let item = Marshal {
            library: &surface.library,
            function,
        }
        .function();
        source.items(item);
    }
    source.finish()
}

struct Marshal<'a> {
    library: &'a Library,
    function: &'a Function,
}

/// The local variable of a parameter.
fn local(param: &Param) -> Ident {
    format_ident!("c_{}", snake(&param.name))
}

fn mentions_layout(tokens: &TokenStream) -> bool {
    tokens.to_string().contains("layout .")
}

impl Marshal<'_> {
    fn function(&self) -> TokenStream {
        let function = self.function;
        let (symbol, method, export) = (&function.symbol, ident(&function.method), ident(&function.symbol));
        let (args_type, reply_type) = (args_ident(function), reply_ident(function));
        let about = doc(&format!("# Safety\nAs [`dispatch`]. `{}`", function.prototype));
        let checks: Vec<TokenStream> = function
            .inputs
            .iter()
            .filter_map(|input| self.check(input))
            .collect();
        let before: Vec<TokenStream> = function
            .params
            .iter()
            .filter_map(|param| self.before(param))
            .collect();
        let passed = function.params.iter().map(|param| self.pass(param));
        let after: Vec<TokenStream> = function
            .params
            .iter()
            .filter_map(|param| self.after(param))
            .collect();
        let results: Vec<TokenStream> = function
            .params
            .iter()
            .filter_map(|param| self.result(param))
            .collect();
        let void = function.return_type == CType::Void;
        let returned = (!void).then(|| {
            let value = self.returned();
            if value.to_string() == "returned" {
                quote! { returned, }
            } else {
                quote! { returned: #value, }
            }
        });
        let reason = safety(
            "the caller vouches for the library; every pointer is to a live buffer of the size that the function expects, or is an address of the target.",
        );
        let call = if void {
            quote! { unsafe { function(#(#passed),*); } }
        } else {
            quote! { let returned = unsafe { function(#(#passed),*) }; }
        };
        let args = if function.inputs.is_empty() {
            quote! { _args }
        } else {
            quote! { args }
        };
        let fails = function.inputs.iter().any(|input| self.can_fail(input));
        let lends: Vec<TokenStream> = function
            .params
            .iter()
            .filter_map(|param| self.lend(param))
            .collect();
        let mismatch = (!lends.is_empty()).then(|| {
            quote! { let mismatch = |why: String| DispatchError::Mismatch { symbol: #symbol, why }; }
        });
        let reads = function
            .params
            .iter()
            .any(|param| self.result(param).is_some_and(|value| mentions_layout(&value)));
        let returns = matches!(function.return_type, CType::Enum(_));
        let layout = match lends.is_empty() && !reads && !returns {
            true => quote! { _layout },
            false => quote! { layout },
        };
        let bad = fails.then(|| {
            quote! {
                let bad = |param: &'static str| {
                    move |why: String| DispatchError::BadArgument { symbol: #symbol, param, why }
                };
            }
        });
        quote! {
            #about
            unsafe fn #method(exports: &Exports, #layout: &Layout, #args: #args_type) -> Result<#reply_type, DispatchError> {
                let function = exports.#export.ok_or(DispatchError::MissingExport(#symbol))?;
                #bad
                #mismatch
                #(#checks)*
                #(#before)*
                #(#lends)*
                #reason
                #call
                #(#after)*
                Ok(#reply_type { #returned #(#results),* })
            }
        }
    }

    fn input(&self, index: usize) -> &Input {
        &self.function.inputs[index]
    }

    /// Statements that bring a parameter into the library's own form.
    fn lend(&self, param: &Param) -> Option<TokenStream> {
        let local = local(param);
        match (&param.pass, &param.ty) {
            (Pass::Value { input }, CType::Enum(_)) => {
                let value = self.value(param, self.input(*input));
                Some(quote! { let #local = layout.number(#value).map_err(mismatch)?; })
            }
            (
                Pass::Constant {
                    value: Some(value), ..
                },
                CType::Enum(name),
            ) => {
                let value = self.enumerator(name, *value);
                Some(quote! { let #local = layout.number(#value).map_err(mismatch)?; })
            }
            (Pass::Record { record, .. }, _) => {
                Some(quote! { let mut #local = layout.lend(#record, #local).map_err(mismatch)?; })
            }
            _ => None,
        }
    }

    fn enumerator(&self, name: &str, value: i128) -> TokenStream {
        let named = self
            .library
            .find_enum(name)
            .and_then(|item| item.by_value(value))
            .map(|value| ident(&value.name));
        let name = ident(name);
        match named {
            Some(enumerator) => quote! { #name::#enumerator },
            None => {
                let value = int(value);
                quote! { #name(#value) }
            }
        }
    }

    /// The expression that is passed.
    fn pass(&self, param: &Param) -> TokenStream {
        let local = local(param);
        let constant = matches!(&param.ty, CType::Pointer { constant: true, .. });
        match &param.pass {
            Pass::Value { .. } if matches!(param.ty, CType::Enum(_)) => quote! { #local },
            Pass::Value { input } => self.value(param, self.input(*input)),
            Pass::Constant { value, .. } => match (value, &param.ty) {
                (None, _) if constant => quote! { std::ptr::null() },
                (None, _) => quote! { std::ptr::null_mut() },
                (Some(_), CType::Enum(_)) => quote! { #local },
                (Some(value), _) => int(*value),
            },
            Pass::Length { .. } => quote! { #local },
            Pass::Buffer { input } => {
                let nullable = matches!(&self.input(*input).kind, InputKind::Text { nullable: true, .. });
                match (nullable, constant) {
                    (false, false) => quote! { #local.as_mut_ptr().cast() },
                    (false, true) => quote! { #local.as_mut_ptr().cast_const().cast() },
                    (true, false) => {
                        quote! { #local.as_mut().map_or(std::ptr::null_mut(), |text| text.as_mut_ptr().cast()) }
                    }
                    (true, true) => {
                        quote! { #local.as_mut().map_or(std::ptr::null(), |text| text.as_mut_ptr().cast_const().cast()) }
                    }
                }
            }
            Pass::OutBuffer { .. } => quote! { #local.as_mut_ptr().cast() },
            Pass::OutValue { .. } => quote! { &raw mut #local },
            Pass::Record { .. } => quote! { #local.as_mut_ptr() },
        }
    }

    fn value(&self, param: &Param, input: &Input) -> TokenStream {
        let name = ident(&input.name);
        let InputKind::Scalar { form, .. } = &input.kind else {
            return quote! {};
        };
        match &param.ty {
            CType::Pointer { constant, .. } => {
                if *constant {
                    quote! { std::ptr::without_provenance(args.#name as usize) }
                } else {
                    quote! { std::ptr::without_provenance_mut(args.#name as usize) }
                }
            }
            CType::Enum(_) => quote! { args.#name },
            ty if *form == Form::Boolean || is_long(ty) => {
                let ty = c_type(self.library, ty);
                quote! { #ty::from(args.#name) }
            }
            _ => quote! { args.#name },
        }
    }

    /// Statements after the call.
    fn after(&self, param: &Param) -> Option<TokenStream> {
        let Pass::OutBuffer { output, written, .. } = &param.pass else {
            return None;
        };
        let buffer = local(param);
        if let OutputKind::Text(encoding) = self.function.outputs[*output].kind {
            return Some(match encoding {
                Encoding::Utf16 => quote! { #buffer = marshal::until_nul_utf16(#buffer); },
                Encoding::Ascii | Encoding::Utf8 => quote! { #buffer = marshal::until_nul(#buffer); },
            });
        }
        let written = local(self.function.params.get((*written)?)?);
        Some(quote! { #buffer.truncate(usize::try_from(#written).unwrap_or(usize::MAX)); })
    }

    /// The field of the reply that a parameter fills.
    fn result(&self, param: &Param) -> Option<TokenStream> {
        let local = local(param);
        let output = match &param.pass {
            Pass::OutBuffer { output, .. } | Pass::OutValue { output } | Pass::Record { output, .. } => {
                *output
            }
            _ => return None,
        };
        let output = &self.function.outputs[output];
        let name = ident(&output.name);
        let value = match &output.kind {
            OutputKind::Scalar {
                form: Form::Boolean, ..
            } => quote! { #local != 0 },
            OutputKind::Scalar { ty, .. } if is_long(ty) => {
                let ty = portable(ty);
                quote! { #local as #ty }
            }
            OutputKind::Scalar {
                ty: CType::Enum(_), ..
            } => quote! { layout.meaning(#local) },
            _ if matches!(param.pass, Pass::Record { .. }) => quote! { #local.take_back() },
            _ => quote! { #local },
        };
        Some(quote! { #name: #value })
    }

    fn returned(&self) -> TokenStream {
        match &self.function.return_type {
            CType::Pointer { .. } => quote! { returned.addr() as u64 },
            CType::Enum(_) => quote! { layout.meaning(returned) },
            ty if is_long(ty) => {
                let ty = portable(ty);
                quote! { returned as #ty }
            }
            _ => quote! { returned },
        }
    }
}
