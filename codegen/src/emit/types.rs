//! Rust spellings of C types and names.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use crate::surface::{CType, Library, Scalar};

/// An identifier; what Rust reserves gets a raw form or an underscore.
pub(super) fn ident(name: &str) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(ident) => ident,
        Err(_) if matches!(name, "self" | "Self" | "super" | "crate" | "_") => {
            Ident::new(&format!("{name}_"), Span::call_site())
        }
        Err(_) => match syn::parse_str::<Ident>(&format!("r#{name}")) {
            Ok(raw) => raw,
            Err(_) => Ident::new(
                &format!("_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")),
                Span::call_site(),
            ),
        },
    }
}

/// An integer literal without a suffix.
pub(super) fn int(value: impl Into<i128>) -> TokenStream {
    let value = value.into();
    let literal = Literal::u128_unsuffixed(value.unsigned_abs());
    if value < 0 {
        quote! { -#literal }
    } else {
        quote! { #literal }
    }
}

/// The type in declarations of the library. Names of enums and records are in scope.
pub(super) fn c_type(library: &Library, ty: &CType) -> TokenStream {
    match ty {
        CType::Void => quote! { c_void },
        CType::Scalar(scalar) => {
            let name = ident(scalar.rust());
            quote! { #name }
        }
        CType::Enum(name) => {
            let name = ident(name);
            quote! { #name }
        }
        CType::Record(name) => {
            let name = record_ident(library, name);
            quote! { #name }
        }
        CType::Pointer { to, constant } => {
            let to = c_type(library, to);
            if *constant {
                quote! { *const #to }
            } else {
                quote! { *mut #to }
            }
        }
        CType::Array { of, len } => {
            let of = c_type(library, of);
            let len = int(*len);
            quote! { [#of; #len] }
        }
    }
}

/// Rust name of a record.
pub(super) fn record_ident(library: &Library, name: &str) -> Ident {
    library
        .find_record(name)
        .map_or_else(|| ident(name), |record| ident(&record.rust))
}

/// The names of `core::ffi` that `types` use.
pub(super) fn ffi_names<'a>(types: impl Iterator<Item = &'a CType>) -> Vec<Ident> {
    fn visit(ty: &CType, found: &mut [bool; 4]) {
        match ty {
            CType::Scalar(Scalar::Char) => found[0] = true,
            CType::Scalar(Scalar::Long) => found[1] = true,
            CType::Scalar(Scalar::UnsignedLong) => found[2] = true,
            CType::Pointer { to, .. } => {
                found[3] |= **to == CType::Void;
                visit(to, found);
            }
            CType::Array { of, .. } => visit(of, found),
            _ => {}
        }
    }
    let mut found = [false; 4];
    types.for_each(|ty| visit(ty, &mut found));
    ["c_char", "c_long", "c_ulong", "c_void"]
        .into_iter()
        .zip(found)
        .filter(|(_, used)| *used)
        .map(|(name, _)| ident(name))
        .collect()
}
