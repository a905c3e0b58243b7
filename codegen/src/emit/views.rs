//! Records as agents see them: serialisable views without reserved fields.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Map, Value, json};

use super::calls::portable;
use super::exports::snake;
use super::schema;
use super::source::{Source, doc};
use super::types::ident;
use crate::catalog::RecordKind;
use crate::surface::{CType, Function, Library, OutputKind, RecordField, RecordType, Scalar};

/// How one member is shown.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Hex,
    Integer(TokenKind),
    Boolean,
    Enum(String),
    Chars,
    Bytes,
    Record(String),
    Array(Box<Shape>, u64),
}

/// Rust type of a number in a view.
#[derive(Debug, Clone)]
pub(super) enum TokenKind {
    Portable(CType),
    Bits,
}

/// One member of a view.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// Expression that reads it from `record`.
    read: TokenStream,
}

/// The members of a record's view; `hidden` is the status field that the verdict has used up.
pub(super) fn members(library: &Library, record: &RecordType, hidden: Option<&str>) -> Vec<Member> {
    let mut found = Vec::new();
    collect(library, record, &quote! { record }, &mut found);
    found.retain(|member| hidden.map(snake).as_ref() != Some(&member.name));
    found
}

fn collect(library: &Library, record: &RecordType, base: &TokenStream, found: &mut Vec<Member>) {
    for (index, field) in record.fields.iter().enumerate() {
        if field.name.to_ascii_lowercase().starts_with("reserved") {
            continue;
        }
        let read = read(record, field, index, base);
        if field.name.is_empty() {
            if let CType::Record(name) = &field.ty
                && let Some(inner) = library.find_record(name)
            {
                collect(library, inner, &read, found);
            }
            continue;
        }
        found.push(Member {
            name: snake(&field.name),
            shape: shape(field),
            read,
        });
    }
}

fn read(record: &RecordType, field: &RecordField, index: usize, base: &TokenStream) -> TokenStream {
    let name = if field.name.is_empty() {
        format!("anonymous_{index}")
    } else {
        field.name.clone()
    };
    if field.bits.is_some() {
        let name = ident(&name);
        return quote! { #base.#name() };
    }
    if record.kind == RecordKind::Union {
        let get = format_ident!("get_{}", name);
        return quote! { #base.#get() };
    }
    let name = ident(&name);
    quote! { #base.#name }
}

fn shape(field: &RecordField) -> Shape {
    if let Some(bits) = field.bits {
        return match bits.width {
            1 => Shape::Boolean,
            2..=32 => Shape::Integer(TokenKind::Bits),
            _ => Shape::Hex,
        };
    }
    shape_of(&field.ty, field.boolean)
}

fn shape_of(ty: &CType, boolean: bool) -> Shape {
    match ty {
        CType::Scalar(_) if boolean => Shape::Boolean,
        CType::Scalar(scalar) if scalar.bits() > 32 => Shape::Hex,
        CType::Scalar(_) => Shape::Integer(TokenKind::Portable(ty.clone())),
        CType::Enum(name) => Shape::Enum(name.clone()),
        CType::Record(name) => Shape::Record(name.clone()),
        CType::Array { of, .. } if **of == CType::Scalar(Scalar::Char) => Shape::Chars,
        CType::Array { of, .. } if **of == CType::Scalar(Scalar::U8) && !boolean => Shape::Bytes,
        CType::Array { of, len } => Shape::Array(Box::new(shape_of(of, boolean)), *len),
        // Records with pointers are refused before: see RES042.
        CType::Void | CType::Pointer { .. } => Shape::Hex,
    }
}

/// Name of the view of a record.
pub(super) fn view_ident(library: &Library, record: &str) -> Ident {
    let rust = library
        .find_record(record)
        .map_or(record, |record| record.rust.as_str());
    format_ident!("{}View", heck::ToUpperCamelCase::to_upper_camel_case(rust))
}

/// Name of the view that a tool's result holds: its own where a status field is hidden.
pub(super) fn result_view_ident(
    library: &Library,
    function: &Function,
    output: usize,
    record: &str,
) -> Ident {
    match &function.status {
        Some(status) if status.output == output => format_ident!("{}View", function.variant),
        _ => view_ident(library, record),
    }
}

/// Adds the views that the results of `functions` need.
pub(super) fn emit(source: &mut Source, library: &Library, functions: &[&Function]) {
    let mut wanted = BTreeSet::new();
    for function in functions {
        for (index, output) in function.outputs.iter().enumerate() {
            let OutputKind::Record(name) = &output.kind else {
                continue;
            };
            let Some(record) = library.find_record(name) else {
                continue;
            };
            let hidden = function.status.as_ref().filter(|status| status.output == index);
            let hidden = hidden.map(|status| status.field.as_str());
            let view = members(library, record, hidden);
            need(&view, &mut wanted);
            if hidden.is_some() {
                let name = result_view_ident(library, function, index, name);
                add(source, library, record, &name, &view);
            } else {
                wanted.insert(name.clone());
            }
        }
    }
    let mut done = BTreeSet::new();
    while let Some(name) = wanted.iter().find(|name| !done.contains(*name)).cloned() {
        done.insert(name.clone());
        let Some(record) = library.find_record(&name) else {
            continue;
        };
        let view = members(library, record, None);
        need(&view, &mut wanted);
        add(source, library, record, &view_ident(library, &name), &view);
    }
}

fn need(view: &[Member], wanted: &mut BTreeSet<String>) {
    for member in view {
        let mut shape = &member.shape;
        while let Shape::Array(of, _) = shape {
            shape = of;
        }
        if let Shape::Record(name) = shape {
            wanted.insert(name.clone());
        }
    }
}

fn add(source: &mut Source, library: &Library, record: &RecordType, name: &Ident, view: &[Member]) {
    let c_type = ident(&record.rust);
    let about = doc(&format!("`{}` as it travels in results.", record.name));
    let fields = view.iter().map(|member| {
        let (field, ty) = (ident(&member.name), rust_type(library, &member.shape));
        quote! { #field: #ty }
    });
    let reads = view.iter().map(|member| {
        let (field, value) = (ident(&member.name), convert(library, &member.shape, &member.read));
        quote! { #field: #value }
    });
    source.items(quote! {
        #about
        #[derive(Debug, Serialize)]
        pub(crate) struct #name { #(#fields),* }

        impl From<&#c_type> for #name {
            fn from(record: &#c_type) -> Self {
                Self { #(#reads),* }
            }
        }
    });
}

fn rust_type(library: &Library, shape: &Shape) -> TokenStream {
    match shape {
        Shape::Hex => quote! { Hex },
        Shape::Integer(TokenKind::Portable(ty)) => portable(ty),
        Shape::Integer(TokenKind::Bits) => quote! { u32 },
        Shape::Boolean => quote! { bool },
        Shape::Enum(name) => {
            let name = ident(name);
            quote! { Named<#name> }
        }
        Shape::Chars => quote! { String },
        Shape::Bytes => quote! { HexBytes },
        Shape::Record(name) => {
            let name = view_ident(library, name);
            quote! { #name }
        }
        Shape::Array(of, _) => {
            let of = rust_type(library, of);
            quote! { Vec<#of> }
        }
    }
}

fn convert(library: &Library, shape: &Shape, value: &TokenStream) -> TokenStream {
    match shape {
        Shape::Hex => quote! { Hex(#value) },
        Shape::Integer(TokenKind::Portable(_)) => quote! { #value },
        Shape::Integer(TokenKind::Bits) => quote! { #value as u32 },
        Shape::Boolean => quote! { #value != 0 },
        Shape::Enum(_) => quote! { Named(#value) },
        Shape::Chars => quote! { marshal::chars(&#value) },
        Shape::Bytes => quote! { HexBytes(#value.to_vec()) },
        Shape::Record(name) => {
            let name = view_ident(library, name);
            quote! { #name::from(&#value) }
        }
        Shape::Array(of, _) => {
            // Elements are read by reference; scalars are copied out.
            let element = match **of {
                Shape::Record(_) => {
                    let inner = rust_type(library, of);
                    return quote! { #value.iter().map(#inner::from).collect() };
                }
                Shape::Array(..) | Shape::Chars | Shape::Bytes => quote! { element },
                _ => quote! { *element },
            };
            match **of {
                Shape::Integer(TokenKind::Portable(_)) => quote! { #value.to_vec() },
                Shape::Hex => quote! { #value.iter().copied().map(Hex).collect() },
                _ => {
                    let inner = convert(library, of, &element);
                    quote! { #value.iter().map(|element| #inner).collect() }
                }
            }
        }
    }
}

/// The schema of a record's view.
pub(super) fn schema(library: &Library, record: &RecordType, hidden: Option<&str>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for member in members(library, record, hidden) {
        required.push(Value::String(member.name.clone()));
        properties.insert(member.name.clone(), shape_schema(library, &member.shape));
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

fn shape_schema(library: &Library, shape: &Shape) -> Value {
    match shape {
        Shape::Hex => json!({ "type": "string", "pattern": schema::HEX_OUT }),
        Shape::Integer(TokenKind::Portable(ty)) => {
            let (min, max) = ty.scalar().map_or((0, 0), |scalar| (scalar.min(), scalar.max()));
            json!({ "type": "integer", "minimum": schema::number(min), "maximum": schema::number(max) })
        }
        Shape::Integer(TokenKind::Bits) => json!({ "type": "integer", "minimum": 0 }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Enum(_) | Shape::Chars => json!({ "type": "string" }),
        Shape::Bytes => json!({ "type": "string", "pattern": "^[0-9a-f]*$" }),
        Shape::Record(name) => library.find_record(name).map_or_else(
            || json!({ "type": "object", "properties": {} }),
            |record| schema(library, record, None),
        ),
        Shape::Array(of, len) => {
            json!({ "type": "array", "items": shape_schema(library, of), "minItems": len, "maxItems": len })
        }
    }
}
