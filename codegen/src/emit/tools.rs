//! The table of generated tools, with their schemas.

use quote::{format_ident, quote};

use super::Emitted;
use super::schema;
use super::source::{Source, doc, prose};
use super::types::ident;
use crate::surface::Surface;

pub(super) fn emit(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/tools.rs",
        &["The generated tools: what clients see of each, and what runs it."],
    );
    source.items(quote! {
        use super::handlers;
        use crate::tier::Tier;
        use crate::tool::{Cx, Hints, SchemaSource, Tool, ToolSpec};
    });
    let captured = schema::captured().to_string();
    source.items(quote! {
        /// Schema of the field `output`, in which a result carries what the library printed.
        pub const OUTPUT_SCHEMA: &str = #captured;
    });
    let tools = surface.tools();
    for (function, tool) in &tools {
        let spec = format_ident!("{}", tool.name.to_ascii_uppercase());
        let about = doc(&format!("`{}`: {}.", tool.name, prose(&tool.title)));
        let (name, title, description, group) = (&tool.name, &tool.title, &tool.description, &function.group);
        let tier = ident(function.tier.rust());
        let default = surface.group(group).is_some_and(|group| group.default);
        let (idempotent, open_world, symbol) = (tool.idempotent, tool.open_world, &function.symbol);
        let input = schema::input(&surface.library, function).to_string();
        let output = schema::output(&surface.library, function).to_string();
        source.items(quote! {
            #about
            pub static #spec: ToolSpec = ToolSpec {
                name: #name,
                title: #title,
                description: #description,
                group: #group,
                tier: Tier::#tier,
                default: #default,
                hints: Hints { idempotent: #idempotent, open_world: #open_world },
                input_schema: SchemaSource::Json(#input),
                output_schema: SchemaSource::Json(#output),
                functions: &[#symbol],
            };
        });
    }
    let entries = tools.iter().map(|(_, tool)| {
        let spec = format_ident!("{}", tool.name.to_ascii_uppercase());
        let handler = ident(&tool.name);
        quote! {
            Tool {
                spec: &#spec,
                run: |host, arguments| Box::pin(handlers::#handler(Cx::new(host), arguments)),
            }
        }
    });
    source.items(quote! {
        /// Every generated tool, by name.
        pub static TOOLS: &[Tool] = &[#(#entries),*];
    });
    source.finish()
}
