//! Everything that is known of one function or tool, for people.

use std::fmt::Write;

use serde_json::Value;

use crate::emit::schema;
use crate::resolve::nearest;
use crate::surface::{Function, Returns, Served, Surface, words};

/// What the server serves of a hand-written tool, where that is known: its entry in `tools/list`.
pub type ServedTool<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// Explains a function symbol, a tool name or an alias. The schemas of hand-written tools live in the server's Rust
/// types, so they come from `served`.
///
/// # Errors
/// That there is no such name, with the nearest one.
pub fn explain(surface: &Surface, name: &str, served: ServedTool<'_>) -> Result<String, String> {
    let mut out = String::new();
    if let Some(composite) = surface.composites.iter().find(|composite| composite.name == name) {
        let _ = writeln!(
            out,
            "{name}: hand-written, in the group {}. It calls\n",
            composite.group
        );
        for symbol in &composite.symbols {
            if let Some(function) = surface
                .functions
                .iter()
                .find(|function| function.symbol == *symbol)
            {
                let _ = writeln!(out, "  {symbol} ({}): {}", function.tier.name(), function.summary);
            }
        }
        hand_written(&mut out, name, served);
        return Ok(out);
    }
    let known_as = |function: &Function| {
        let tool = matches!(&function.served, Served::Tool(tool) if tool.name == name);
        tool || function.symbol == name || function.method == name || function.alias.as_deref() == Some(name)
    };
    if let Some(function) = surface.functions.iter().find(|function| known_as(function)) {
        exposed(&mut out, surface, function);
        if let Served::Composite(names) = &function.served {
            for name in names {
                hand_written(&mut out, name, served);
            }
        }
        return Ok(out);
    }
    let excluded = surface
        .excluded
        .iter()
        .find(|excluded| excluded.symbol == name || excluded.alias.as_deref() == Some(name));
    if let Some(excluded) = excluded {
        let _ = writeln!(out, "{}", excluded.symbol);
        if let Some(alias) = &excluded.alias {
            let _ = writeln!(out, "  earlier {alias}");
        }
        let _ = writeln!(out, "\nprototype  {}", excluded.prototype);
        let _ = writeln!(out, "origin     {}", excluded.origin);
        let _ = writeln!(out, "excluded   {}: {}", excluded.kind, excluded.reason);
        return Ok(out);
    }
    let names = surface
        .functions
        .iter()
        .flat_map(|function| {
            let tool = match &function.served {
                Served::Tool(tool) => Some(tool.name.as_str()),
                Served::Composite(_) => None,
            };
            [Some(function.symbol.as_str()), tool, function.alias.as_deref()]
        })
        .flatten()
        .chain(surface.composites.iter().map(|composite| composite.name.as_str()))
        .chain(surface.excluded.iter().map(|excluded| excluded.symbol.as_str()));
    Err(match nearest(name, names) {
        Some(near) => format!("there is no function, tool or alias `{name}`: did you mean `{near}`?"),
        None => format!("there is no function, tool or alias `{name}`: `explain --summary` lists the groups"),
    })
}

fn exposed(out: &mut String, surface: &Surface, function: &Function) {
    let library = &surface.library;
    let _ = writeln!(out, "{}: {}", function.symbol, function.summary);
    if let Some(alias) = &function.alias {
        let _ = writeln!(out, "  earlier {alias}");
    }
    let _ = writeln!(out, "\nprototype  {}", function.prototype);
    let _ = writeln!(out, "origin     {}", function.origin);
    let _ = writeln!(
        out,
        "tier       {}: {}",
        function.tier.name(),
        function.tier_reason
    );
    match &function.served {
        Served::Tool(tool) => {
            let _ = writeln!(
                out,
                "tool       {} ({}), generated, group {}",
                tool.name, tool.title, function.group
            );
        }
        Served::Composite(names) => {
            let _ = writeln!(out, "tools      {}, hand-written", names.join(", "));
        }
    }
    let _ = writeln!(out, "method     Engine::{}", function.method);
    let _ = writeln!(out, "needs      {}", words::requires(function));
    let _ = writeln!(out, "wait       {}", words::wait(function));
    let _ = writeln!(out, "success    {}", words::success(function));
    if let Returns::Ignored(reason) = &function.returns {
        let _ = writeln!(out, "returns    nothing to go by: {reason}");
    }
    if !function.params.is_empty() {
        let _ = writeln!(out, "\nparameters");
        for param in &function.params {
            let _ = writeln!(out, "  {}: {}", param.name, words::pass(function, &param.pass));
        }
    }
    if !function.inputs.is_empty() {
        let _ = writeln!(out, "\narguments");
        for input in &function.inputs {
            let _ = writeln!(
                out,
                "  {} ({}): {}",
                input.name,
                words::argument(library, input),
                input.doc
            );
        }
    }
    let returned = match &function.returns {
        Returns::Value(output) => Some(output),
        _ => None,
    };
    let results: Vec<_> = returned.into_iter().chain(&function.outputs).collect();
    if !results.is_empty() {
        let _ = writeln!(out, "\nresults");
        for output in results {
            let _ = writeln!(
                out,
                "  {} ({}): {}",
                output.name,
                words::result(output),
                output.doc
            );
        }
    }
    if !function.notes.is_empty() {
        let _ = writeln!(out, "\nnotes");
        for note in &function.notes {
            let _ = writeln!(out, "  - {note}");
        }
    }
    if let Served::Tool(tool) = &function.served {
        let _ = writeln!(out, "\ndescription\n  {}", tool.description);
        let _ = writeln!(
            out,
            "\ninput schema\n{}",
            pretty(&schema::input(library, function))
        );
        let _ = writeln!(
            out,
            "\noutput schema\n{}",
            pretty(&schema::output(library, function))
        );
    }
}

fn hand_written(out: &mut String, name: &str, served: ServedTool<'_>) {
    let Some(tool) = served(name) else {
        return;
    };
    let description = tool["description"].as_str().unwrap_or_default();
    let _ = writeln!(out, "\n{name}\n  {description}");
    for (title, half) in [("input schema", "inputSchema"), ("output schema", "outputSchema")] {
        let _ = writeln!(out, "\n{title} of {name}\n{}", pretty(&tool[half]));
    }
}

fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.lines()
        .map(|line| format!("  {line}\n"))
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// `73 exports = N exposed through M tools (A generated, B hand-written) + X excluded`, and a table of groups.
pub fn summary(surface: &Surface) -> String {
    let generated = surface.tools().len();
    let composites = surface.composites.len();
    let mut out = format!(
        "{} exports = {} exposed through {} tools ({generated} generated, {composites} composite) + {} excluded\n",
        surface.library.exports.len(),
        surface.functions.len(),
        generated + composites,
        surface.excluded.len()
    );
    let _ = writeln!(
        out,
        "\n{:<14} {:>9} {:>9} {:>9}  read state destructive",
        "group", "functions", "generated", "composite"
    );
    for group in &surface.groups {
        let of_group: Vec<&Function> = surface
            .functions
            .iter()
            .filter(|function| function.group == group.name)
            .collect();
        let tools = of_group
            .iter()
            .filter(|function| matches!(function.served, Served::Tool(_)))
            .count();
        let composites = surface
            .composites
            .iter()
            .filter(|composite| composite.group == group.name)
            .count();
        let tier = |tier| of_group.iter().filter(|function| function.tier == tier).count();
        let _ = writeln!(
            out,
            "{:<14} {:>9} {tools:>9} {composites:>9}  {:>4} {:>5} {:>11}{}",
            group.name,
            of_group.len(),
            tier(crate::surface::Tier::Read),
            tier(crate::surface::Tier::State),
            tier(crate::surface::Tier::Destructive),
            if group.default { "  default" } else { "" }
        );
    }
    let mut kinds: Vec<&str> = surface
        .excluded
        .iter()
        .map(|excluded| excluded.kind.as_str())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|kind| {
            let count = surface
                .excluded
                .iter()
                .filter(|excluded| excluded.kind == kind)
                .count();
            format!("{count} {kind}")
        })
        .collect();
    let _ = writeln!(out, "\nexcluded: {}", kinds.join(", "));
    out
}
