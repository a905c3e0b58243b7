//! Writes the tool beside its function.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ItemFn, ReturnType, parse_quote};

use crate::checks::CheckedTool;

pub(crate) fn tool(tool: &CheckedTool, function: &ItemFn) -> TokenStream {
    let CheckedTool {
        name,
        title,
        group,
        description,
        idempotent,
        open_world,
        opt_in,
        functions,
        input,
        ..
    } = tool;
    let constant = format_ident!("{}", name.to_uppercase());
    let tier = format_ident!("{}", tool.tier);
    let handler = &function.sig.ident;
    let output: syn::Type = match &function.sig.output {
        ReturnType::Type(_, output) => output.as_ref().clone(),
        ReturnType::Default => parse_quote!(()),
    };
    let documentation = format!("The tool `{name}`.");
    quote! {
        #function

        #[doc = #documentation]
        pub(crate) const #constant: crate::tool::Tool = crate::tool::Tool {
            spec: &crate::tool::ToolSpec {
                name: #name,
                title: #title,
                description: #description,
                group: #group,
                tier: crate::tier::Tier::#tier,
                default: !#opt_in,
                hints: crate::tool::Hints { idempotent: #idempotent, open_world: #open_world },
                input_schema: crate::tool::SchemaSource::Rust(crate::tool::typed::input_schema::<#input>),
                output_schema: crate::tool::SchemaSource::Rust(crate::tool::typed::output_schema::<#output>),
                functions: &[#(#functions),*],
            },
            run: |host, arguments| Box::pin(async move {
                crate::tool::typed::answer(
                    #handler(crate::tool::Cx::<crate::tier::#tier>::new(host), arguments.typed()?).await,
                )
            }),
        };
    }
}
