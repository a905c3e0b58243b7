//! The reference of tools and functions, in Markdown.

use super::{Emitted, File, MARK, schema};
use crate::surface::{Function, Returns, Served, Surface, Text, Tool, words};

pub(super) fn emit(surface: &Surface) -> Emitted {
    let mut page = Page {
        text: format!("<!-- {MARK} from api/; do not edit. -->\n"),
    };
    let tools = surface.tools();
    page.line("\n# Tools");
    page.line(&format!(
        "\nThe tools that follow from HyperDbg's SDK {}: {} generated ones, and the {} hand-written ones with the functions that they call. \
         A generated tool makes exactly one call. Groups that are not part of the default surface are served with `--tools GROUP`; a call that can destroy something is confirmed by a person (see `confirmation.md`).",
        surface.sdk_version,
        tools.len(),
        surface.composites.len()
    ));
    page.line("\nForms: an *address* and *hex* are strings `0x…`; *hex digits* are two per byte. Every result of a function that prints also has `output`, the captured text.");
    for group in &surface.groups {
        let generated: Vec<&(&Function, &Tool)> = tools
            .iter()
            .filter(|(function, _)| function.group == group.name)
            .collect();
        let composites: Vec<_> = surface
            .composites
            .iter()
            .filter(|composite| composite.group == group.name)
            .collect();
        let default = if group.default {
            "default surface"
        } else {
            "opt-in"
        };
        page.line(&format!("\n## {} (`{}`, {default})", group.title, group.name));
        page.line(&format!("\n{}", cell(&group.description)));
        if generated.is_empty() && composites.is_empty() {
            continue;
        }
        page.line("\n| tool | tier | what | function |\n| --- | --- | --- | --- |");
        for composite in &composites {
            let symbols: Vec<String> = composite
                .symbols
                .iter()
                .map(|symbol| format!("`{symbol}`"))
                .collect();
            page.line(&format!(
                "| `{}` | | hand-written | {} |",
                composite.name,
                symbols.join(", ")
            ));
        }
        for (function, tool) in &generated {
            page.line(&format!(
                "| [`{0}`](#{0}) | {1} | {2} | `{3}` |",
                tool.name,
                function.tier.name(),
                cell(&tool.title),
                function.symbol
            ));
        }
        for (function, tool) in generated {
            page.tool(surface, function, tool);
        }
    }
    page.line("\n## Functions behind hand-written tools");
    page.line("\n| function | tier | tools | wait |\n| --- | --- | --- | --- |");
    for function in &surface.functions {
        if let Served::Composite(names) = &function.served {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            page.line(&format!(
                "| `{}` | {} | {} | {} |",
                function.symbol,
                function.tier.name(),
                names.join(", "),
                cell(&words::wait(function))
            ));
        }
    }
    page.line("\n## Functions that are no tool");
    page.line("\n| function | kind | reason |\n| --- | --- | --- |");
    for excluded in &surface.excluded {
        page.line(&format!(
            "| `{}` | {} | {} |",
            excluded.symbol,
            excluded.kind,
            cell(&excluded.reason)
        ));
    }
    Ok(File {
        path: "hyperdbg-mcp/docs/tools.md".to_owned(),
        contents: page.text,
    })
}

struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn tool(&mut self, surface: &Surface, function: &Function, tool: &Tool) {
        self.line(&format!("\n### {}", tool.name));
        self.line(&format!("\n{}", cell(&tool.description)));
        self.line(&format!(
            "\n- tier: {} ({})",
            function.tier.name(),
            cell(&function.tier_reason)
        ));
        self.line(&format!("- function: `{}`", function.prototype));
        self.line(&format!("- needs: {}", cell(&words::requires(function))));
        self.line(&format!("- wait: {}", cell(&words::wait(function))));
        self.line(&format!("- success: {}", cell(&words::success(function))));
        for note in &function.notes {
            self.line(&format!("- note: {}", cell(note)));
        }
        if !function.inputs.is_empty() {
            self.line("\n| argument | form | what |\n| --- | --- | --- |");
            for input in &function.inputs {
                let form = words::argument(&surface.library, input);
                self.line(&format!(
                    "| `{}` | {} | {} |",
                    input.name,
                    cell(&form),
                    cell(&input.doc)
                ));
            }
        }
        let mut results = Vec::new();
        for input in schema::echoes(function) {
            results.push((
                input.name.clone(),
                "address".to_owned(),
                "The address that was acted on.".to_owned(),
            ));
        }
        let returned = match &function.returns {
            Returns::Value(output) => Some(output),
            _ => None,
        };
        for output in returned.into_iter().chain(&function.outputs) {
            results.push((output.name.clone(), words::result(output), output.doc.clone()));
        }
        if function.text != Text::None {
            let what = match function.text {
                Text::Result => "The answer itself, as the debugger prints it.",
                _ => "Messages of the debugger.",
            };
            results.push(("output".to_owned(), "captured text".to_owned(), what.to_owned()));
        }
        if !results.is_empty() {
            self.line("\n| result | form | what |\n| --- | --- | --- |");
            for (name, form, what) in results {
                self.line(&format!("| `{name}` | {} | {} |", cell(&form), cell(&what)));
            }
        }
    }
}

/// Text that can stand in a table cell or paragraph.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut code = false;
    for c in text.chars() {
        code ^= c == '`';
        match c {
            '\n' => out.push(' '),
            '<' | '>' | '*' | '_' | '[' | ']' if code => out.push(c),
            '|' | '<' | '>' | '*' | '_' | '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
