//! `#[composite_tool]`: registers a hand-written tool like a generated one.
//!
//! ```text
//! attribute + function ─► arguments ─► checks against catalog and forms ─► the function, and a `Tool` beside it
//! ```

mod arguments;
mod body;
mod catalog;
mod checks;
mod emit;
mod forms;

use proc_macro::TokenStream;

/// Makes a tool of an async function and holds it against the catalog.
///
/// ```text
/// /// Reads memory of the target. …
/// #[composite_tool(
///     name = "hd_mem_read", title = "Read memory", group = "mem", tier = "read",
///     uses(hyperdbg_u_read_memory, hyperdbg_u_run_command("lm")),
/// )]
/// async fn read(cx: Cx<Read>, input: Input) -> Result<Answer<Output>, ToolError> { … }
/// ```
///
/// The doc comment is the description that agents read. `idempotent` and `open_world` are hints, `opt_in`
/// keeps the tool out of the default surface; each is `false` where it is left out. `uses` lists every export that the tool calls; a command line in parentheses narrows `run_command`
/// to that line, which has a tier of its own. The constant with the tool has the tool's name in capitals.
///
/// Refused, each on its token and all of one item at once: an unknown function (with the nearest name), a function
/// above the tool's tier, a call in the body that `uses` does not declare, an unknown or missing tier, a name that is not `hd_<group>_…` in lower case of at most 32
/// characters, a missing doc comment, a description over 1,000 characters.
#[proc_macro_attribute]
pub fn composite_tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = syn::parse_macro_input!(item as syn::ItemFn);
    let result = arguments::parse(attribute.into())
        .and_then(|arguments| checks::check(arguments, &function))
        .map(|tool| emit::tool(&tool, &function));
    match result {
        Ok(tokens) => tokens.into(),
        Err(error) => {
            let errors = error.to_compile_error();
            // The function stays, so that its users do not add errors of their own.
            quote::quote! { #errors #[allow(dead_code)] #function }.into()
        }
    }
}
