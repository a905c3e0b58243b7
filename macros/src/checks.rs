//! Holds a tool against the catalog and the rules for tools; collects every error of one item.

use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, FnArg, GenericArgument, ItemFn, Lit, Meta, PathArguments, Type};

use crate::arguments::{Arguments, Use, nearest, whole};
use crate::body;
use crate::catalog::FUNCTIONS;
use crate::forms::{FORMS, RUN_COMMAND};

/// Tiers in ascending order, with their types.
const TIERS: [(&str, &str); 3] = [
    ("read", "Read"),
    ("state", "State"),
    ("destructive", "Destructive"),
];
const MAX_NAME: usize = 32;
const MAX_DESCRIPTION: usize = 1_000;

/// A tool that passed.
pub(crate) struct CheckedTool {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) group: String,
    pub(crate) description: String,
    /// Name of the tier's type.
    pub(crate) tier: &'static str,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
    pub(crate) opt_in: bool,
    pub(crate) functions: Vec<String>,
    /// The handler's input type.
    pub(crate) input: Type,
}

struct Errors(Vec<syn::Error>);

impl Errors {
    fn at(&mut self, place: &impl Spanned, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new(place.span(), message));
    }

    fn on(&mut self, span: proc_macro2::Span, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new(span, message));
    }
}

pub(crate) fn check(mut arguments: Arguments, function: &ItemFn) -> syn::Result<CheckedTool> {
    let mut errors = Errors(std::mem::take(&mut arguments.errors));
    let tier = check_tier(&arguments, &mut errors);
    check_name(&arguments, &mut errors);
    for (value, key) in [(&arguments.title, "title"), (&arguments.group, "group")] {
        match value {
            None => errors.on(
                whole(&arguments),
                format!("the tool has no {key}: write `{key} = \"…\"`"),
            ),
            Some(text) if text.value().trim().is_empty() => errors.at(text, format!("the {key} is empty")),
            Some(_) => {}
        }
    }
    for used in &arguments.uses {
        check_use(used, tier, &mut errors);
    }
    errors.0.extend(body::undeclared(function, &arguments.uses));
    let description = check_description(function, &mut errors);
    let input = check_signature(function, tier, &mut errors);
    let all = errors.0.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    });
    if let Some(error) = all {
        return Err(error);
    }
    let text = |literal: &Option<syn::LitStr>| literal.as_ref().map(syn::LitStr::value).unwrap_or_default();
    let flag = |literal: &Option<syn::LitBool>| literal.as_ref().is_some_and(|literal| literal.value);
    match (tier, input) {
        (Some(tier), Some(input)) => Ok(CheckedTool {
            name: text(&arguments.name),
            title: text(&arguments.title),
            group: text(&arguments.group),
            description,
            tier: TIERS[tier].1,
            idempotent: flag(&arguments.idempotent) || tier == 0,
            open_world: flag(&arguments.open_world),
            opt_in: flag(&arguments.opt_in),
            functions: arguments
                .uses
                .iter()
                .map(|used| used.function.to_string())
                .collect(),
            input,
        }),
        _ => Err(syn::Error::new(function.span(), "the tool cannot be read")),
    }
}

fn check_tier(arguments: &Arguments, errors: &mut Errors) -> Option<usize> {
    let Some(literal) = &arguments.tier else {
        errors.on(
            whole(arguments),
            "the tool has no tier: write `tier = \"read\"`, \"state\" or \"destructive\"",
        );
        return None;
    };
    let value = literal.value();
    let found = rank(&value);
    if found.is_none() {
        errors.at(
            literal,
            format!("there is no tier `{value}`: it is \"read\", \"state\" or \"destructive\""),
        );
    }
    found
}

fn rank(tier: &str) -> Option<usize> {
    TIERS.iter().position(|(name, _)| *name == tier)
}

fn check_name(arguments: &Arguments, errors: &mut Errors) {
    let Some(literal) = &arguments.name else {
        errors.on(
            whole(arguments),
            "the tool has no name: write `name = \"hd_<group>_<verb>\"`",
        );
        return;
    };
    let name = literal.value();
    if name.len() > MAX_NAME {
        errors.at(
            literal,
            format!(
                "`{name}` has {} characters; clients cut names over {MAX_NAME}",
                name.len()
            ),
        );
    }
    if !name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    {
        errors.at(literal, format!("`{name}` may hold a-z, 0-9 and _ only"));
    }
    let Some(group) = arguments.group.as_ref().map(syn::LitStr::value) else {
        return;
    };
    let prefix = format!("hd_{group}_");
    if name.strip_prefix(&prefix).is_none_or(str::is_empty) {
        errors.at(
            literal,
            format!("`{name}` does not have the form `{prefix}<verb>` of its group"),
        );
    }
}

fn check_use(used: &Use, tier: Option<usize>, errors: &mut Errors) {
    let name = used.function.to_string();
    let Some((_, own_tier)) = FUNCTIONS.iter().find(|(function, _)| *function == name) else {
        let hint = nearest(&name, FUNCTIONS.iter().map(|(function, _)| *function))
            .map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
        errors.at(
            &used.function,
            format!("the catalog has no function `{name}`{hint}"),
        );
        return;
    };
    let (what, needed) = match &used.form {
        None => (format!("`{name}`"), *own_tier),
        Some(form) if name != RUN_COMMAND => {
            errors.at(
                form,
                format!("only `{RUN_COMMAND}` can be narrowed to a command line"),
            );
            return;
        }
        Some(form) => {
            let line = form.value();
            let Some((_, tier)) = FORMS.iter().find(|(known, _)| *known == line) else {
                let hint = nearest(&line, FORMS.iter().map(|(known, _)| *known))
                    .map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
                errors.at(
                    form,
                    format!("`{line}` is no command line with a tier of its own{hint}"),
                );
                return;
            };
            (format!("the command `{line}`"), *tier)
        }
    };
    if let (Some(tier), Some(needed)) = (tier, rank(needed))
        && needed > tier
    {
        errors.at(
            &used.function,
            format!(
                "a tool of tier `{}` may not call {what}, which has tier `{}`",
                TIERS[tier].0, TIERS[needed].0
            ),
        );
    }
}

/// The doc comment: lines joined to paragraphs.
fn check_description(function: &ItemFn, errors: &mut Errors) -> String {
    let mut paragraphs = vec![String::new()];
    for line in function.attrs.iter().filter_map(doc_line) {
        let line = line.trim();
        match paragraphs.last_mut() {
            Some(last) if !line.is_empty() => {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(line);
            }
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    let description = paragraphs.join("\n");
    let length = description.chars().count();
    if description.is_empty() {
        errors.at(
            &function.sig.ident,
            "the tool has no doc comment: it is the description that agents read",
        );
    } else if length > MAX_DESCRIPTION {
        errors.at(
            &function.sig.ident,
            format!("the description has {length} characters; clients read {MAX_DESCRIPTION}"),
        );
    }
    description
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text), ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The input type of `async fn (Cx<Tier>, Input) -> …`.
fn check_signature(function: &ItemFn, tier: Option<usize>, errors: &mut Errors) -> Option<Type> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        errors.at(&signature.fn_token, "a tool is an `async fn`");
    }
    let types: Vec<&Type> = signature
        .inputs
        .iter()
        .filter_map(|argument| match argument {
            FnArg::Typed(argument) => Some(argument.ty.as_ref()),
            FnArg::Receiver(_) => None,
        })
        .collect();
    let [context, input] = types.as_slice() else {
        errors.at(
            &signature.ident,
            "a tool takes its context and its input: `(cx: Cx<Tier>, input: Input)`",
        );
        return None;
    };
    match (context_tier(context), tier) {
        (None, _) => errors.at(
            *context,
            "the first parameter is the tool's context: `cx: Cx<Tier>`",
        ),
        (Some(written), Some(tier)) if written != TIERS[tier].1 => errors.at(
            *context,
            format!(
                "the tool has tier `{}`, so its context is `Cx<{}>`",
                TIERS[tier].0, TIERS[tier].1
            ),
        ),
        _ => {}
    }
    Some((*input).clone())
}

fn context_tier(context: &Type) -> Option<String> {
    let Type::Path(path) = context else { return None };
    let last = path
        .path
        .segments
        .last()
        .filter(|segment| segment.ident == "Cx")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(Type::Path(tier)) => {
            tier.path.segments.last().map(|segment| segment.ident.to_string())
        }
        _ => None,
    }
}
