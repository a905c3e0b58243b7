//! Arguments: what is checked of them, and the C values that are made of them.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{Marshal, local};
use crate::emit::types::{c_type, ident, int, record_ident};
use crate::surface::{CType, Capacity, Encoding, FieldSet, Form, Input, InputKind, OutputKind, Param, Pass};

impl Marshal<'_> {
    pub(super) fn can_fail(&self, input: &Input) -> bool {
        self.check(input).is_some()
            || !matches!(input.kind, InputKind::Scalar { .. })
            || self.function.params.iter().any(|param| match &param.pass {
                Pass::OutBuffer {
                    capacity: Capacity::Input { input: index, .. },
                    ..
                } => self.function.inputs.get(*index) == Some(input),
                _ => false,
            })
    }

    /// Bounds that the type alone does not keep.
    pub(super) fn check(&self, input: &Input) -> Option<TokenStream> {
        let InputKind::Scalar {
            form,
            ty,
            min,
            max,
            multiple_of,
            exclude,
            ..
        } = &input.kind
        else {
            return None;
        };
        let (name, text) = (ident(&input.name), &input.name);
        let (type_min, type_max) = match ty {
            CType::Scalar(scalar) => (scalar.min(), scalar.max()),
            CType::Enum(_) => (i128::from(i32::MIN), i128::from(i32::MAX)),
            _ => (0, i128::from(u64::MAX)),
        };
        let mut checks = Vec::new();
        if *form != Form::Boolean && (*min > type_min || *max < type_max) {
            let (min, max) = (int(*min), int(*max));
            checks.push(quote! {
                marshal::within(i128::from(args.#name), #min, #max).map_err(bad(#text))?;
            });
        }
        if let Some(step) = multiple_of {
            let step = int(*step);
            checks.push(quote! {
                marshal::multiple(i128::from(args.#name), #step).map_err(bad(#text))?;
            });
        }
        if let CType::Enum(enum_name) = ty {
            // Enumerators are what the library was made for; another number is undefined behaviour in C++.
            let item = self.library.find_enum(enum_name)?;
            let allowed = item
                .values
                .iter()
                .filter(|value| !exclude.contains(&i128::from(value.value)))
                .map(|value| {
                    let (ty, name) = (ident(enum_name), ident(&value.name));
                    quote! { #ty::#name }
                });
            checks.push(quote! {
                marshal::one_of(args.#name, &[#(#allowed),*]).map_err(bad(#text))?;
            });
        }
        (!checks.is_empty()).then(|| quote! { #(#checks)* })
    }

    /// Statements that prepare a parameter.
    pub(super) fn before(&self, param: &Param) -> Option<TokenStream> {
        let local = local(param);
        match &param.pass {
            Pass::Value { .. } | Pass::Constant { .. } => None,
            Pass::Length { input } => {
                let input = self.input(*input);
                let (name, text) = (ident(&input.name), &input.name);
                let ty = c_type(self.library, &param.ty);
                Some(quote! {
                    let #local = #ty::try_from(args.#name.len())
                        .map_err(|_| bad(#text)("it is too long for the function".to_owned()))?;
                })
            }
            // The length of the same argument may be taken after this: the argument is cloned, not moved.
            Pass::Buffer { input } => Some(self.buffer(&local, self.input(*input))),
            Pass::OutBuffer { output, capacity, .. } => {
                let unit = match self.function.outputs[*output].kind {
                    OutputKind::Text(Encoding::Utf16) => quote! { 0u16 },
                    _ => quote! { 0u8 },
                };
                let size = match capacity {
                    Capacity::Fixed(size) => {
                        let size = int(*size);
                        quote! { #size }
                    }
                    Capacity::Input { input, max } => {
                        let input = self.input(*input);
                        let (name, text, max) = (ident(&input.name), &input.name, int(*max));
                        return Some(quote! {
                            let size = marshal::capacity(u64::from(args.#name), #max).map_err(bad(#text))?;
                            let mut #local = vec![#unit; size];
                        });
                    }
                };
                Some(quote! { let mut #local = vec![#unit; #size]; })
            }
            Pass::OutValue { .. } => {
                let target = param.ty.pointee()?;
                let (ty, zero) = match target {
                    CType::Enum(name) => {
                        let name = ident(name);
                        (quote! { #name }, quote! { #name(0) })
                    }
                    other => (c_type(self.library, other), quote! { 0 }),
                };
                Some(quote! { let mut #local: #ty = #zero; })
            }
            Pass::Record { record, sets, .. } => {
                let ty = record_ident(self.library, record);
                let changed = (!sets.is_empty()).then(|| quote! { mut });
                let sets = sets.iter().map(|set| self.set(&local, set));
                Some(quote! {
                    let #changed #local = Packet::<#ty>::zeroed();
                    #(#sets)*
                })
            }
        }
    }

    fn buffer(&self, local: &Ident, input: &Input) -> TokenStream {
        let (name, text) = (ident(&input.name), &input.name);
        // A length that is passed beside the buffer needs the argument too, so it keeps its own.
        let shared =
            self.function.params.iter().any(
                |param| matches!(&param.pass, Pass::Length { input: other } if self.input(*other) == input),
            );
        let value = if shared {
            quote! { args.#name.clone() }
        } else {
            quote! { args.#name }
        };
        match &input.kind {
            InputKind::Text {
                encoding,
                min,
                max,
                nullable,
                ..
            } => {
                let convert = match encoding {
                    Encoding::Ascii => quote! { marshal::ascii },
                    Encoding::Utf8 => quote! { marshal::utf8 },
                    Encoding::Utf16 => quote! { marshal::utf16 },
                };
                let (min, max) = (int(*min), int(*max));
                if *nullable {
                    quote! {
                        let mut #local = #value
                            .map(|text| #convert(text, #min, #max))
                            .transpose()
                            .map_err(bad(#text))?;
                    }
                } else {
                    quote! { let mut #local = #convert(#value, #min, #max).map_err(bad(#text))?; }
                }
            }
            InputKind::Bytes { max } => {
                let max = int(*max);
                quote! { let mut #local = marshal::bytes(#value, #max).map_err(bad(#text))?; }
            }
            InputKind::Scalar { .. } => quote! {},
        }
    }

    fn set(&self, local: &Ident, set: &FieldSet) -> TokenStream {
        let input = self.input(set.input);
        let (name, text) = (ident(&input.name), &input.name);
        let Some((last, outer)) = set.path.split_last() else {
            return quote! {};
        };
        let outer = outer.iter().map(|step| ident(step));
        let target = quote! { #local.get_mut() #(.#outer)* };
        match &input.kind {
            InputKind::Text { .. } => {
                let last = ident(last);
                quote! {
                    if let Some(text) = &args.#name {
                        marshal::fill_chars(&mut #target.#last, text).map_err(bad(#text))?;
                    }
                }
            }
            InputKind::Scalar { form, .. } => {
                let value = if *form == Form::Boolean {
                    let ty = c_type(self.library, &set.ty);
                    quote! { #ty::from(args.#name) }
                } else {
                    quote! { args.#name }
                };
                if set.bits.is_some() {
                    let setter = format_ident!("set_{}", last);
                    quote! { #target.#setter(#value); }
                } else {
                    let last = ident(last);
                    quote! { #target.#last = #value; }
                }
            }
            InputKind::Bytes { .. } => quote! {},
        }
    }
}
