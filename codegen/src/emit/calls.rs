//! Typed arguments and replies of every function, as they travel to the worker and back.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Emitted;
use super::source::{Source, doc, prose};
use super::types::{ident, record_ident};
use crate::surface::{
    CType, Encoding, Form, Function, Input, InputKind, Library, Output, OutputKind, Scalar, Surface,
};

pub(super) fn emit(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/calls.rs",
        &[
            "Typed arguments and replies of the library's functions: what travels between supervisor and worker.",
            "",
            "Strings are bytes without a terminator. Every `returned` is the raw return value.",
        ],
    );
    source.items(quote! {
        use hyperdbg_sys::*;
        use serde::{Deserialize, Serialize};
        use super::functions;
        use crate::tool::FunctionInfo;
    });
    for function in &surface.functions {
        add(&mut source, &surface.library, function);
    }
    let variants: Vec<Ident> = surface
        .functions
        .iter()
        .map(|function| ident(&function.variant))
        .collect();
    let args: Vec<Ident> = surface.functions.iter().map(args_ident).collect();
    let replies: Vec<Ident> = surface.functions.iter().map(reply_ident).collect();
    let statics: Vec<Ident> = surface.functions.iter().map(static_ident).collect();
    let abouts: Vec<TokenStream> = surface
        .functions
        .iter()
        .map(|function| doc(&format!("`{}`", function.symbol)))
        .collect();
    source.items(quote! {
        /// A call of one function.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Call {
            #(#abouts #variants(#args)),*
        }

        /// The answer to a [`Call`], of the same name.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Reply {
            #(#abouts #variants(#replies)),*
        }

        impl Call {
            /// What is known of the function.
            pub fn function(&self) -> &'static FunctionInfo {
                match self {
                    #(Self::#variants(_) => &functions::#statics),*
                }
            }
        }
    });
    source.finish()
}

pub(super) fn args_ident(function: &Function) -> Ident {
    format_ident!("{}Args", function.variant)
}

pub(super) fn reply_ident(function: &Function) -> Ident {
    format_ident!("{}Reply", function.variant)
}

pub(super) fn static_ident(function: &Function) -> Ident {
    ident(&function.method.to_ascii_uppercase())
}

fn add(source: &mut Source, library: &Library, function: &Function) {
    let (args, reply) = (args_ident(function), reply_ident(function));
    let about = doc(&format!("Arguments of `{}`.", function.symbol));
    let about_reply = doc(&format!("Reply of `{}`.", function.symbol));
    let fields = function.inputs.iter().map(|input| {
        let (name, about) = (ident(&input.name), doc(&prose(&input.doc)));
        let ty = input_type(input);
        quote! { #about pub #name: #ty }
    });
    let returned = returned_type(&function.return_type).map(|ty| {
        quote! {
            /// The return value.
            pub returned: #ty,
        }
    });
    let results = function.outputs.iter().map(|output| {
        let (name, about) = (ident(&output.name), doc(&prose(&output.doc)));
        let ty = output_type(library, output);
        quote! { #about pub #name: #ty }
    });
    source.items(quote! {
        #about
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub struct #args { #(#fields),* }

        #about_reply
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub struct #reply { #returned #(#results),* }
    });
}

/// The Rust type of a scalar that has the same size on every target.
pub(super) fn portable(ty: &CType) -> TokenStream {
    match ty {
        CType::Scalar(scalar) => {
            let name = ident(scalar.portable().rust());
            quote! { #name }
        }
        CType::Enum(name) => {
            let name = ident(name);
            quote! { #name }
        }
        _ => quote! { u64 },
    }
}

fn input_type(input: &Input) -> TokenStream {
    match &input.kind {
        InputKind::Scalar {
            form: Form::Boolean, ..
        } => quote! { bool },
        InputKind::Scalar { ty, .. } => portable(ty),
        InputKind::Text {
            encoding, nullable, ..
        } => {
            let unit = match encoding {
                Encoding::Utf16 => quote! { Vec<u16> },
                Encoding::Ascii | Encoding::Utf8 => quote! { Vec<u8> },
            };
            if *nullable {
                quote! { Option<#unit> }
            } else {
                unit
            }
        }
        InputKind::Bytes { .. } => quote! { Vec<u8> },
    }
}

fn output_type(library: &Library, output: &Output) -> TokenStream {
    match &output.kind {
        OutputKind::Scalar {
            form: Form::Boolean, ..
        } => quote! { bool },
        OutputKind::Scalar { ty, .. } => portable(ty),
        OutputKind::Bytes | OutputKind::Text(Encoding::Ascii | Encoding::Utf8) => quote! { Vec<u8> },
        OutputKind::Text(Encoding::Utf16) => quote! { Vec<u16> },
        OutputKind::Record(name) => {
            let name = record_ident(library, name);
            quote! { Packet<#name> }
        }
    }
}

/// The type of `returned`; none for `void`.
pub(super) fn returned_type(ty: &CType) -> Option<TokenStream> {
    (*ty != CType::Void).then(|| portable(ty))
}

/// Whether `long` hides in a type, which has another size on Windows.
pub(super) fn is_long(ty: &CType) -> bool {
    matches!(ty.scalar(), Some(Scalar::Long | Scalar::UnsignedLong))
}
