//! What is known of each function, as static tables.

use quote::quote;

use super::Emitted;
use super::calls::static_ident;
use super::source::{Source, doc, prose};
use super::types::{ident, int};
use crate::surface::{BlockingKind, Function, Pass, Returns, Surface};

pub(super) fn emit(surface: &Surface) -> Emitted {
    let mut source = Source::new(
        "hyperdbg-mcp/src/generated/functions.rs",
        &["Tier, deadline and meaning of success of every function that tools may call."],
    );
    source.items(quote! {
        use std::time::Duration;
        use crate::tier::Tier;
        use crate::tool::{FunctionInfo, Success};
    });
    for function in &surface.functions {
        add(&mut source, function);
    }
    let all = surface.functions.iter().map(static_ident);
    source.items(quote! {
        /// Every function, in the order of the header.
        pub static FUNCTIONS: &[&FunctionInfo] = &[#(&#all),*];
    });
    let sent = surface.functions.iter().flat_map(|function| {
        function.params.iter().filter_map(|param| match &param.pass {
            Pass::Record { record, sets, .. } if !sets.is_empty() => Some((&function.symbol, record)),
            _ => None,
        })
    });
    let sent = sent.map(|(symbol, record)| quote! { (#symbol, #record) });
    source.items(quote! {
        /// Records that are filled in before a function gets them: the library reads these, all others it only writes.
        pub static SENT_RECORDS: &[(&str, &str)] = &[#(#sent),*];
    });
    source.finish()
}

fn add(source: &mut Source, function: &Function) {
    let name = static_ident(function);
    let about = doc(&format!(
        "`{}` ({}). {}: {}.",
        function.prototype,
        function.origin,
        function.tier.rust(),
        prose(function.tier_reason.trim_end_matches('.'))
    ));
    let symbol = &function.symbol;
    let tier = ident(function.tier.rust());
    let success = match function.returns {
        Returns::NonZero => quote! { Success::NonZero },
        Returns::Zero => quote! { Success::Zero },
        Returns::Value(_) | Returns::Ignored(_) | Returns::Nothing => quote! { Success::Unsaid },
    };
    let status = match &function.status {
        Some(status) => {
            let ok = int(status.ok);
            quote! { Some(#ok) }
        }
        None => quote! { None },
    };
    let text_errors = function.text_errors;
    let deadline = int(function.blocking.deadline_ms);
    let until_stop = function.blocking.kind == BlockingKind::UntilStop;
    source.items(quote! {
        #about
        pub static #name: FunctionInfo = FunctionInfo {
            symbol: #symbol,
            tier: Tier::#tier,
            success: #success,
            status_ok: #status,
            text_errors: #text_errors,
            deadline: Duration::from_millis(#deadline),
            until_stop: #until_stop,
        };
    });
}
