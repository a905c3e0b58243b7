//! C enums as transparent newtypes: unknown values survive and print as such.

use quote::quote;

use super::Emitted;
use super::source::{Source, doc};
use super::types::{ident, int};
use crate::surface::{EnumType, Library};

pub(super) fn emit(library: &Library) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/sys/src/generated/enums.rs",
        &["Enums of the SDK. Each is a C `int` with names; every value is valid."],
    );
    source.allow(&["non_camel_case_types", "clippy::upper_case_acronyms"]);
    source.items(quote! {
        use serde::{Deserialize, Serialize};
        use crate::named::CEnum;
        use crate::packet::Plain;
    });
    for item in &library.enums {
        add(&mut source, item);
    }
    source.finish()
}

fn add(source: &mut Source, item: &EnumType) {
    let name = ident(&item.name);
    let c_name = &item.name;
    let about = doc(&format!("`{}` ({}).", item.name, item.origin));
    let constants = item.values.iter().map(|value| {
        let about = doc(&format!(
            "`{}`, `{}` in tool arguments and results.",
            value.value, value.short
        ));
        let constant = ident(&value.name);
        let value = int(value.value);
        quote! { #about pub const #constant: Self = Self(#value); }
    });
    let pairs = |short: bool| {
        item.values
            .iter()
            .map(move |value| {
                let name = if short { &value.short } else { &value.name };
                let number = int(value.value);
                quote! { (#name, #number) }
            })
            .collect::<Vec<_>>()
    };
    let (names, short_names) = (pairs(false), pairs(true));
    let safety = super::source::safety("a transparent `i32` has no padding, and every value is valid.");
    source.items(quote! {
        #about
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        pub struct #name(pub i32);

        impl #name {
            #(#constants)*
        }

        impl CEnum for #name {
            const C_NAME: &'static str = #c_name;
            const NAMES: &'static [(&'static str, i32)] = &[#(#names),*];
            const SHORT_NAMES: &'static [(&'static str, i32)] = &[#(#short_names),*];

            fn from_value(value: i32) -> Self {
                Self(value)
            }

            fn value(self) -> i32 {
                self.0
            }
        }

        impl std::fmt::Debug for #name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.fmt_name(f)
            }
        }

        impl std::fmt::Display for #name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.fmt_name(f)
            }
        }

        #safety
        unsafe impl Plain for #name {}
    });
}
