//! The attribute's arguments, as written.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Ident, LitBool, LitStr, Token, parenthesized};

const KEYS: [&str; 8] = [
    "name",
    "title",
    "group",
    "tier",
    "uses",
    "idempotent",
    "open_world",
    "opt_in",
];

/// What the attribute says.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) group: Option<LitStr>,
    pub(crate) tier: Option<LitStr>,
    pub(crate) uses: Vec<Use>,
    pub(crate) idempotent: Option<LitBool>,
    pub(crate) open_world: Option<LitBool>,
    pub(crate) opt_in: Option<LitBool>,
    /// Arguments that are no arguments, and ones given twice.
    pub(crate) errors: Vec<syn::Error>,
}

/// One function that the tool calls, narrowed to a command line where one is given.
pub(crate) struct Use {
    pub(crate) function: Ident,
    pub(crate) form: Option<LitStr>,
}

impl Parse for Use {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let function = input.parse()?;
        let form = if input.peek(syn::token::Paren) {
            let inner;
            parenthesized!(inner in input);
            Some(inner.parse()?)
        } else {
            None
        };
        Ok(Self { function, form })
    }
}

pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Arguments> {
    Parser::parse2(parse_all, tokens)
}

fn parse_all(input: ParseStream<'_>) -> syn::Result<Arguments> {
    let mut arguments = Arguments::default();
    let mut seen: Vec<String> = Vec::new();
    while !input.is_empty() {
        let key: Ident = input.parse()?;
        let name = key.to_string();
        if seen.contains(&name) {
            arguments
                .errors
                .push(syn::Error::new(key.span(), format!("`{name}` is given twice")));
        }
        match name.as_str() {
            "name" => arguments.name = Some(value(input)?),
            "title" => arguments.title = Some(value(input)?),
            "group" => arguments.group = Some(value(input)?),
            "tier" => arguments.tier = Some(value(input)?),
            "idempotent" => arguments.idempotent = Some(value(input)?),
            "open_world" => arguments.open_world = Some(value(input)?),
            "opt_in" => arguments.opt_in = Some(value(input)?),
            "uses" => {
                let inner;
                parenthesized!(inner in input);
                let uses = Punctuated::<Use, Token![,]>::parse_terminated(&inner)?;
                arguments.uses = uses.into_iter().collect();
            }
            _ => {
                arguments.errors.push(unknown(&key));
                skip(input)?;
            }
        }
        seen.push(name);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(arguments)
}

fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn skip(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

fn unknown(key: &Ident) -> syn::Error {
    let name = key.to_string();
    let hint = nearest(&name, KEYS.into_iter()).map_or_else(
        || format!("the arguments are {}", KEYS.join(", ")),
        |nearest| format!("did you mean `{nearest}`?"),
    );
    syn::Error::new(key.span(), format!("there is no argument `{name}`: {hint}"))
}

/// The candidate that is closest to `name`, if one is close.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= 2.max(candidate.len() / 3))
        .map(|(_, candidate)| candidate)
}

/// Where to point for something that is missing: the attribute as a whole.
pub(crate) fn whole(arguments: &Arguments) -> Span {
    arguments
        .name
        .as_ref()
        .map_or_else(Span::call_site, Spanned::span)
}
