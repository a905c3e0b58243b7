//! Records with the library's layout, checked at compile time.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::Emitted;
use super::source::{Source, doc, safety};
use super::types::{c_type, ffi_names, ident, int};
use crate::catalog::RecordKind;
use crate::surface::layout::{BitField, MemberKind};
use crate::surface::{CType, Layout, Library, RecordType, Repr};

pub(super) fn emit(library: &Library) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/sys/src/generated/records.rs",
        &[
            "Records of the SDK. Padding is named and bit-fields are their storage unit, so that no byte is undefined.",
            "",
            "Sizes and offsets are checked when this compiles.",
        ],
    );
    source.allow(&[
        "non_snake_case",
        "non_camel_case_types",
        "clippy::cast_possible_truncation",
        "clippy::identity_op",
        "clippy::unnecessary_operation",
        "clippy::upper_case_acronyms",
    ]);
    let members = || {
        library
            .records
            .iter()
            .flat_map(|record| record.layouts())
            .flat_map(|(_, layout)| &layout.members)
            .map(|member| &member.ty)
    };
    let ffi = ffi_names(members());
    if !ffi.is_empty() {
        source.items(quote! { use core::ffi::{#(#ffi),*}; });
    }
    let bytes = library
        .records
        .iter()
        .flat_map(|record| record.layouts())
        .any(|(_, layout)| {
            layout
                .bit_fields
                .iter()
                .any(|bits| storage_is_bytes(layout, bits))
        });
    let bits = bytes.then(|| quote! { use crate::bits; });
    source.items(quote! {
        #bits
        use super::enums::*;
        use crate::packet::Plain;
    });
    for record in &library.records {
        for (cfg, layout) in record.layouts() {
            add(&mut source, library, record, cfg.as_ref(), layout);
        }
    }
    source.finish()
}

impl RecordType {
    /// The layouts with the condition under which each holds.
    fn layouts(&self) -> Vec<(Option<TokenStream>, &Layout)> {
        match &self.sysv {
            None => vec![(None, &self.msvc)],
            Some(sysv) => vec![
                (Some(quote! { #[cfg(windows)] }), &self.msvc),
                (Some(quote! { #[cfg(not(windows))] }), sysv),
            ],
        }
    }
}

fn storage_is_bytes(layout: &Layout, bits: &BitField) -> bool {
    layout
        .members
        .iter()
        .any(|member| member.name == bits.storage && matches!(member.ty, CType::Array { .. }))
}

fn add(
    source: &mut Source,
    library: &Library,
    record: &RecordType,
    cfg: Option<&TokenStream>,
    layout: &Layout,
) {
    let name = ident(&record.rust);
    let about = doc(&format!(
        "`{}` ({}): {} bytes, alignment {} in C.",
        record.name, record.origin, layout.size, layout.align
    ));
    let repr = match layout.repr {
        Repr::C => quote! { #[repr(C)] },
        Repr::Align(align) => {
            let align = int(align);
            quote! { #[repr(C, align(#align))] }
        }
        Repr::Packed(align) => {
            let align = int(align);
            quote! { #[repr(C, packed(#align))] }
        }
    };
    let members = layout.members.iter().map(|member| {
        let member_name = ident(&member.name);
        let ty = c_type(library, &member.ty);
        match member.kind {
            MemberKind::Field(_) => {
                let about = doc(&format!("At byte {}.", member.offset));
                quote! { #about pub #member_name: #ty }
            }
            MemberKind::Storage | MemberKind::Padding => quote! { #member_name: #ty },
        }
    });
    let is_union = record.kind == RecordKind::Union;
    let keyword = if is_union {
        quote! { union }
    } else {
        quote! { struct }
    };
    let derives = quote! { #[derive(Clone, Copy)] };
    source.items(quote! {
        #about
        #cfg
        #repr
        #derives
        pub #keyword #name { #(#members),* }
    });
    let accessors: Vec<TokenStream> = if is_union {
        union_accessors(library, layout)
    } else {
        layout
            .bit_fields
            .iter()
            .map(|bits| bit_accessors(library, layout, bits))
            .collect()
    };
    if !accessors.is_empty() {
        source.items(quote! {
            #cfg
            impl #name { #(#accessors)* }
        });
    }
    add_debug(source, record, cfg, layout);
    if record.plain {
        let reason =
            safety("all members are plain and lie without gaps: the assertions below check the size.");
        source.items(quote! {
            #cfg
            #reason
            unsafe impl Plain for #name {}
        });
    }
    add_checks(source, library, record, cfg, layout);
}

fn bit_accessors(library: &Library, layout: &Layout, bits: &BitField) -> TokenStream {
    let get = ident(&bits.name);
    let set = format_ident!("set_{}", bits.name);
    let storage = ident(&bits.storage);
    let ty = c_type(library, &bits.ty);
    let about = doc(&format!(
        "{} bit{} from bit {}.",
        bits.width,
        if bits.width == 1 { "" } else { "s" },
        bits.start
    ));
    let about_set = doc(&format!(
        "Sets `{}`; bits that do not fit are dropped.",
        bits.name
    ));
    let (start, width) = (int(bits.start), int(bits.width));
    if storage_is_bytes(layout, bits) {
        quote! {
            #about
            pub fn #get(&self) -> #ty {
                bits::get(&self.#storage, #start, #width) as #ty
            }
            #about_set
            pub fn #set(&mut self, value: #ty) {
                bits::set(&mut self.#storage, #start, #width, u64::from(value));
            }
        }
    } else {
        let full = bits.ty.scalar().is_some_and(|scalar| scalar.bits() == bits.width);
        let mask = if full {
            quote! { #ty::MAX }
        } else {
            quote! { ((1 << #width) - 1) }
        };
        quote! {
            #about
            pub fn #get(&self) -> #ty {
                (self.#storage >> #start) & #mask
            }
            #about_set
            pub fn #set(&mut self, value: #ty) {
                self.#storage = (self.#storage & !(#mask << #start)) | ((value & #mask) << #start);
            }
        }
    }
}

fn union_accessors(library: &Library, layout: &Layout) -> Vec<TokenStream> {
    layout
        .members
        .iter()
        .filter(|member| matches!(member.kind, MemberKind::Field(_)))
        .map(|member| {
            let name = ident(&member.name);
            let get = format_ident!("get_{}", member.name);
            let ty = c_type(library, &member.ty);
            let about = doc(&format!("The union's bytes as `{}`.", member.name));
            let reason =
                safety("every byte of the union is initialised, and every value of the member is valid.");
            quote! {
                #about
                pub fn #get(&self) -> #ty {
                    #reason
                    unsafe { self.#name }
                }
            }
        })
        .collect()
}

fn add_debug(source: &mut Source, record: &RecordType, cfg: Option<&TokenStream>, layout: &Layout) {
    let name = ident(&record.rust);
    let shown = &record.name;
    let packed = matches!(layout.repr, Repr::Packed(_));
    let fields = layout
        .members
        .iter()
        .filter(|member| matches!(member.kind, MemberKind::Field(_)))
        .map(|member| {
            let label = &member.name;
            if record.kind == RecordKind::Union {
                let get = format_ident!("get_{}", member.name);
                return quote! { .field(#label, &self.#get()) };
            }
            let member = ident(&member.name);
            if packed {
                quote! { .field(#label, &{ self.#member }) }
            } else {
                quote! { .field(#label, &self.#member) }
            }
        });
    let bit_fields = layout.bit_fields.iter().map(|bits| {
        let label = &bits.name;
        let get = ident(&bits.name);
        quote! { .field(#label, &self.#get()) }
    });
    source.items(quote! {
        #cfg
        impl std::fmt::Debug for #name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(#shown) #(#fields)* #(#bit_fields)* .finish()
            }
        }
    });
}

fn add_checks(
    source: &mut Source,
    library: &Library,
    record: &RecordType,
    cfg: Option<&TokenStream>,
    layout: &Layout,
) {
    let name = ident(&record.rust);
    let size_text = format!("{} is {} bytes", record.name, layout.size);
    let size = int(layout.size);
    let offsets = layout
        .members
        .iter()
        .filter(|member| member.kind != MemberKind::Padding && record.kind == RecordKind::Struct)
        .map(|member| {
            let text = format!("{}.{} is at {}", record.name, member.name, member.offset);
            let (field, offset) = (ident(&member.name), int(member.offset));
            quote! { [#text][std::mem::offset_of!(#name, #field) - #offset]; }
        });
    // No byte outside the members: what makes the record plain.
    let sizes = layout.members.iter().map(|member| {
        let ty = c_type(library, &member.ty);
        quote! { size_of::<#ty>() }
    });
    let gaps_text = format!("{} has no hidden bytes", record.name);
    let gaps = if record.kind == RecordKind::Struct {
        quote! { [#gaps_text][size_of::<#name>() - (#(#sizes)+*)]; }
    } else {
        quote! {}
    };
    let align = (layout.align > 1).then(|| {
        let text = format!("{} is aligned to {}", record.name, layout.align);
        let align = int(layout.align);
        quote! { [#text][align_of::<#name>() % #align]; }
    });
    source.items(quote! {
        #cfg
        const _: () = {
            [#size_text][size_of::<#name>() - #size];
            #align
            #(#offsets)*
            #gaps
        };
    });
}
