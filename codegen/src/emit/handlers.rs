//! Handlers of generated tools: arguments in JSON form → a typed call → a judged, typed result.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Emitted;
use super::calls::{args_ident, portable, static_ident};
use super::schema;
use super::source::{Source, doc, prose};
use super::types::{ident, int};
use super::views;
use crate::surface::{
    CType, Encoding, Form, Function, Input, InputKind, Library, Output, OutputKind, Returns, Surface, Text,
    Tool,
};

pub(super) fn emit(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/handlers.rs",
        &[
            "Handlers of the generated tools: arguments, the call, its verdict, and the result as agents see it.",
        ],
    );
    source.allow(&["clippy::cast_possible_truncation"]);
    let tools = surface.tools();
    source.items(quote! {
        use hyperdbg_sys::*;
        use serde::{Deserialize, Serialize};
        use super::calls::*;
        use super::functions;
        use crate::tier::{Destructive, Read, State};
        use crate::tool::value::{Hex, HexBytes};
        use crate::tool::{Arguments, Cx, ToolOutput, ToolResult, verdict};
    });
    if tools
        .iter()
        .any(|(function, _)| function.inputs.iter().any(is_narrow_hex))
    {
        source.items(quote! {
            use crate::tool::{Category, ToolError};

            /// A number that C takes in fewer than 64 bits.
            fn narrow<T: TryFrom<u64>>(name: &str, value: Hex) -> Result<T, ToolError> {
                T::try_from(value.0).map_err(|_| {
                    ToolError::new(
                        Category::InvalidArgument,
                        format!("`{name}` is {value}, which does not fit in {} bits", 8 * size_of::<T>()),
                    )
                    .next_step("Give a smaller number.")
                })
            }
        });
    }
    let functions: Vec<&Function> = tools.iter().map(|(function, _)| *function).collect();
    views::emit(&mut source, &surface.library, &functions);
    for (function, tool) in tools {
        Handler {
            library: &surface.library,
            function,
            tool,
        }
        .add(&mut source);
    }
    source.finish()
}

fn is_narrow_hex(input: &Input) -> bool {
    match &input.kind {
        InputKind::Scalar {
            form: Form::Hex, ty, ..
        } => ty.scalar().is_some_and(|scalar| scalar.bits() < 64),
        _ => false,
    }
}

struct Handler<'a> {
    library: &'a Library,
    function: &'a Function,
    tool: &'a Tool,
}

impl Handler<'_> {
    fn add(&self, source: &mut Source) {
        let function = self.function;
        let stem = heck::ToUpperCamelCase::to_upper_camel_case(self.tool.name.trim_start_matches("hd_"));
        let (input_type, output_type) = (format_ident!("{stem}Input"), format_ident!("{stem}Output"));
        let about = doc(&format!("Arguments of `{}`.", self.tool.name));
        let about_output = doc(&format!("Result of `{}`.", self.tool.name));
        let inputs = function.inputs.iter().map(|input| {
            let (name, ty) = (ident(&input.name), Self::input_type(input));
            let ty = if schema::is_optional(input) {
                quote! { Option<#ty> }
            } else {
                ty
            };
            quote! { #name: #ty }
        });
        source.items(quote! {
            #about
            #[derive(Debug, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub(crate) struct #input_type { #(#inputs),* }
        });
        let fields = self.fields();
        let declared = fields.iter().map(|(name, ty, _)| quote! { #name: #ty });
        source.items(quote! {
            #about_output
            #[derive(Debug, Serialize)]
            pub(crate) struct #output_type { #(#declared),* }
        });
        source.items(self.handler(&input_type, &output_type, &fields));
    }

    fn input_type(input: &Input) -> TokenStream {
        match &input.kind {
            InputKind::Scalar { form, ty, .. } => match form {
                Form::Address | Form::Hex => quote! { Hex },
                Form::Boolean => quote! { bool },
                Form::Integer => portable(ty),
                Form::Enum => {
                    let name = portable(ty);
                    quote! { Named<#name> }
                }
            },
            InputKind::Text { .. } => quote! { String },
            InputKind::Bytes { .. } => quote! { HexBytes },
        }
    }

    /// The argument in the form that the typed call takes.
    fn argument(&self, input: &Input) -> TokenStream {
        let name = ident(&input.name);
        let given = quote! { input.#name };
        let value = match &input.kind {
            InputKind::Scalar {
                form, ty, default, ..
            } => {
                let given = match default {
                    None => given,
                    Some(default) => {
                        let default = self.default(*form, ty, *default);
                        quote! { #given.unwrap_or(#default) }
                    }
                };
                match form {
                    Form::Hex if is_narrow_hex(input) => {
                        let text = &input.name;
                        quote! { narrow(#text, #given)? }
                    }
                    Form::Address | Form::Hex | Form::Enum => quote! { #given.0 },
                    Form::Boolean | Form::Integer => given,
                }
            }
            InputKind::Text {
                encoding, nullable, ..
            } => match (encoding, nullable) {
                (Encoding::Utf16, false) => quote! { #given.encode_utf16().collect() },
                (Encoding::Utf16, true) => quote! { #given.map(|text| text.encode_utf16().collect()) },
                (_, false) => quote! { #given.into_bytes() },
                (_, true) => quote! { #given.map(String::into_bytes) },
            },
            InputKind::Bytes { .. } => quote! { #given.0 },
        };
        quote! { #name: #value }
    }

    fn default(&self, form: Form, ty: &CType, value: i128) -> TokenStream {
        match form {
            Form::Address | Form::Hex => {
                let value = int(value);
                quote! { Hex(#value) }
            }
            Form::Boolean => {
                let value = value != 0;
                quote! { #value }
            }
            Form::Integer => int(value),
            Form::Enum => {
                let CType::Enum(name) = ty else { return quote! {} };
                let enumerator = self.library.find_enum(name).and_then(|item| item.by_value(value));
                let name = ident(name);
                match enumerator {
                    Some(enumerator) => {
                        let enumerator = ident(&enumerator.name);
                        quote! { Named(#name::#enumerator) }
                    }
                    None => {
                        let value = int(value);
                        quote! { Named(#name(#value)) }
                    }
                }
            }
        }
    }

    /// Fields of the result: name, type, value.
    fn fields(&self) -> Vec<(Ident, TokenStream, TokenStream)> {
        let mut fields = Vec::new();
        for input in schema::echoes(self.function) {
            let name = ident(&input.name);
            fields.push((name.clone(), quote! { Hex }, quote! { Hex(#name) }));
        }
        if let Returns::Value(output) = &self.function.returns {
            let value = quote! { reply.returned };
            fields.push(self.field(None, output, &value, true));
        }
        for (index, output) in self.function.outputs.iter().enumerate() {
            let name = ident(&output.name);
            fields.push(self.field(Some(index), output, &quote! { reply.#name }, false));
        }
        fields
    }

    fn field(
        &self,
        index: Option<usize>,
        output: &Output,
        value: &TokenStream,
        raw: bool,
    ) -> (Ident, TokenStream, TokenStream) {
        let name = ident(&output.name);
        let (ty, value) = match &output.kind {
            OutputKind::Scalar { form, ty } => match form {
                Form::Address | Form::Hex => {
                    let narrow = ty.scalar().is_some_and(|scalar| scalar.bits() < 64);
                    let value = if narrow {
                        quote! { u64::from(#value) }
                    } else {
                        value.clone()
                    };
                    (quote! { Hex }, quote! { Hex(#value) })
                }
                Form::Boolean if raw => (quote! { bool }, quote! { #value != 0 }),
                Form::Boolean => (quote! { bool }, value.clone()),
                Form::Integer => (portable(ty), value.clone()),
                Form::Enum => {
                    let ty = portable(ty);
                    (quote! { Named<#ty> }, quote! { Named(#value) })
                }
            },
            OutputKind::Bytes => (quote! { HexBytes }, quote! { HexBytes(#value) }),
            OutputKind::Text(Encoding::Utf16) => {
                (quote! { String }, quote! { String::from_utf16_lossy(&#value) })
            }
            OutputKind::Text(_) => (
                quote! { String },
                quote! { String::from_utf8_lossy(&#value).into_owned() },
            ),
            OutputKind::Record(record) => {
                let view = match index {
                    Some(index) => views::result_view_ident(self.library, self.function, index, record),
                    None => views::view_ident(self.library, record),
                };
                (quote! { #view }, quote! { #view::from(#value.get()) })
            }
        };
        (name, ty, value)
    }

    fn handler(
        &self,
        input_type: &Ident,
        output_type: &Ident,
        fields: &[(Ident, TokenStream, TokenStream)],
    ) -> TokenStream {
        let function = self.function;
        let name = ident(&self.tool.name);
        let about = doc(&format!("{}: `{}`.", prose(&self.tool.title), function.symbol));
        let tier = ident(function.tier.rust());
        let (method, args, known) = (
            ident(&function.method),
            args_ident(function),
            static_ident(function),
        );
        let arguments = function.inputs.iter().map(|input| self.argument(input));
        let unpack = if function.inputs.is_empty() {
            quote! { let #input_type {} = arguments.typed()?; }
        } else {
            quote! { let input: #input_type = arguments.typed()?; }
        };
        let echoed = schema::echoes(function).into_iter().map(|input| {
            let name = ident(&input.name);
            let value = match &input.kind {
                InputKind::Scalar {
                    default: Some(default),
                    ..
                } => {
                    let default = int(*default);
                    quote! { input.#name.unwrap_or(Hex(#default)).0 }
                }
                _ => quote! { input.#name.0 },
            };
            quote! { let #name = #value; }
        });
        let returned = match &function.return_type {
            CType::Void => quote! { None },
            CType::Enum(_) => quote! { Some(i128::from(reply.returned.value())) },
            _ => quote! { Some(i128::from(reply.returned)) },
        };
        let status = match &function.status {
            None => quote! { None },
            Some(status) => {
                let (output, field) = (ident(&function.outputs[status.output].name), ident(&status.field));
                quote! { Some(u64::from(reply.#output.get().#field)) }
            }
        };
        let reply_used = function.return_type != CType::Void || !function.outputs.is_empty();
        let reply = reply_used.then(|| quote! { let reply = outcome.reply; });
        let values = fields.iter().map(|(name, _, value)| {
            if value.to_string() == format!("Hex ({name})") {
                quote! { #name: Hex(#name) }
            } else {
                quote! { #name: #value }
            }
        });
        let result = if function.text == Text::None {
            quote! { ToolOutput::typed(&output) }
        } else {
            quote! { Ok(ToolOutput::typed(&output)?.captured(outcome.text)) }
        };
        quote! {
            #about
            pub(crate) async fn #name(cx: Cx<#tier>, arguments: Arguments) -> ToolResult {
                #unpack
                #(#echoed)*
                let call = #args { #(#arguments),* };
                let outcome = cx.engine().await?.#method(call).await?;
                #reply
                verdict(&functions::#known, #returned, #status, &outcome.text)?;
                let output = #output_type { #(#values),* };
                #result
            }
        }
    }
}
