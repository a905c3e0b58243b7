//! Builds one Rust source file out of items.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Emitted, File, MARK};
use crate::diagnostic::Diagnostic;

/// A Rust file under construction.
pub(super) struct Source {
    text: String,
    failed: Option<Box<Diagnostic>>,
    path: &'static str,
}

impl Source {
    /// A file whose module documentation is `doc` (one entry a line).
    pub(super) fn new(path: &'static str, doc: &[&str]) -> Self {
        let mut text = format!("// {MARK} from api/; do not edit.\n\n");
        for line in doc {
            text.push_str(format!("//! {line}").trim_end());
            text.push('\n');
        }
        // rustfmt leaves the file alone: its layout is the generator's.
        text.push_str("#![cfg_attr(rustfmt, rustfmt_skip)]\n");
        Self {
            text,
            failed: None,
            path,
        }
    }

    /// Allows lints for the whole file.
    pub(super) fn allow(&mut self, lints: &[&str]) -> &mut Self {
        self.text.push_str(&format!("#![allow({})]\n", lints.join(", ")));
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the tokens in place")]
    /// Adds the items of `tokens`, each after a blank line, except that `use` and `mod` lines stay together.
    pub(super) fn items(&mut self, tokens: TokenStream) -> &mut Self {
        let file: syn::File = match syn::parse2(tokens.clone()) {
            Ok(file) => file,
            Err(error) => {
                self.failed.get_or_insert_with(|| {
                    Box::new(
                        Diagnostic::error(
                            "EMI001",
                            format!("{}: the generated text is not Rust: {error}", self.path),
                        )
                        .note(tokens.to_string().chars().take(400).collect::<String>())
                        .help("this is a defect of the emitter: please report it"),
                    )
                });
                return self;
            }
        };
        let mut previous_line = false;
        for item in file.items {
            let is_line = matches!(item, syn::Item::Use(_) | syn::Item::Mod(_));
            if !(is_line && previous_line) {
                self.text.push('\n');
            }
            previous_line = is_line;
            let text = prettyplease::unparse(&syn::File {
                shebang: None,
                frontmatter: None,
                attrs: Vec::new(),
                items: vec![item],
            });
            self.text.push_str(&as_comments(&text));
        }
        self
    }

    /// The finished file.
    pub(super) fn finish(self) -> Emitted {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(File {
                path: self.path.to_owned(),
                contents: self.text,
            }),
        }
    }
}

/// Token streams hold no comments. A statement's `#[doc = " SAFETY: …"]` (see [`safety`]) becomes one here.
fn as_comments(text: &str) -> String {
    text.replace("/// SAFETY: ", "// SAFETY: ")
}

/// The comment that clippy asks for above an `unsafe` block or impl.
pub(super) fn safety(reason: &str) -> TokenStream {
    let text = format!(" SAFETY: {reason}");
    quote! { #[doc = #text] }
}

/// Documentation: one attribute a line.
pub(super) fn doc(text: &str) -> TokenStream {
    let lines = text.lines().map(|line| {
        let line = if line.is_empty() {
            String::new()
        } else {
            format!(" {line}")
        };
        quote! { #[doc = #line] }
    });
    quote! { #(#lines)* }
}

/// Text of others in documentation: what rustdoc would read as a link or a tag is escaped.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '[' | ']' | '<' | '>' | '*' | '_') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_are_no_rust_are_the_emitters_defect() {
        let mut source = Source::new("x.rs", &["Nothing."]);
        source.items(quote! { pub fn good() {} });
        source.items(quote! { pub fn 7 });
        // The first one is told, whatever comes after it.
        source.items(quote! { also not rust });
        let error = source.finish().err().unwrap();
        assert_eq!(error.code, "EMI001");
        assert!(
            error.message.starts_with("x.rs: the generated text is not Rust"),
            "{}",
            error.message
        );
    }
}
