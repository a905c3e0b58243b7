//! `hd_mod_list`: what `lm` prints, as records.

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls;
use crate::output::Captured;
use crate::tier::Read;
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Category, Cx, Listing, ToolError};

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Which {
    #[default]
    All,
    Kernel,
    User,
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    #[serde(default)]
    which: Which,
    /// Only modules whose path or name holds this, in any case.
    #[schemars(length(max = 200))]
    filter: Option<String>,
    /// Modules to skip.
    #[serde(default)]
    offset: u32,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 150))]
    limit: u32,
}

fn default_limit() -> u32 {
    60
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// Modules that fit the filter.
    total: u32,
    modules: Vec<Module>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u32>,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Module {
    /// `kernel` or `user`.
    kind: &'static str,
    base: Hex,
    /// Bytes; of kernel modules.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<Hex>,
    /// Of user modules.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Hex>,
    name: Captured,
    path: Captured,
}

/// Lists modules: base, size or entry point, name and path. In debugger mode the debuggee's own HyperDbg makes the list,
/// for which the target runs for a moment. User modules are those of HyperDbg's own process.
#[composite_tool(
    name = "hd_mod_list",
    title = "List modules",
    group = "mod",
    tier = "read",
    uses(
        hyperdbg_u_run_command("lm"),
        hyperdbg_u_run_command("lm km"),
        hyperdbg_u_run_command("lm um")
    )
)]
async fn list(cx: Cx<Read>, input: Input) -> Result<Answer<Output>, ToolError> {
    let listing = match input.which {
        Which::All => Listing::Modules,
        Which::Kernel => Listing::KernelModules,
        Which::User => Listing::UserModules,
    };
    let text = calls::list(&cx, listing).await?;
    let rows = parse(text.bytes());
    if rows.is_empty() {
        return Err(ToolError::new(Category::Debugger, "HyperDbg listed no module.")
            .next_step("Check that the session is connected to a target.")
            .captured(text));
    }
    if let Some(current) = cx.current() {
        let kernel: Vec<(u64, u64, String)> = rows
            .iter()
            .filter_map(|row| {
                let name = String::from_utf8_lossy(row.name).into_owned();
                Some((row.base, row.size?, name))
            })
            .collect();
        if !kernel.is_empty() {
            current.book.pages().modules = kernel;
        }
    }
    let wanted = input.filter.as_deref().map(str::to_ascii_lowercase);
    let rows: Vec<Row> = rows
        .into_iter()
        .filter(|row| wanted.as_ref().is_none_or(|wanted| row.mentions(wanted)))
        .collect();
    let total = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let page: Vec<&Row> = rows
        .iter()
        .skip(input.offset as usize)
        .take(input.limit as usize)
        .collect();
    let end = input
        .offset
        .saturating_add(u32::try_from(page.len()).unwrap_or(u32::MAX));
    let next_offset = (end < total && !page.is_empty()).then_some(end);
    let mut words = format!("{} of {total} modules", page.len());
    if let Some(next) = next_offset {
        words.push_str(&format!("; the next begin at offset {next}"));
    }
    words.push('.');
    let mut view = Vec::new();
    for row in &page {
        view.extend_from_slice(format!("{:<6}  0x{:016x}  ", row.kind, row.base).as_bytes());
        view.extend_from_slice(
            format!(
                "{:>10}  ",
                row.size.map_or_else(String::new, |size| format!("{size:#x}"))
            )
            .as_bytes(),
        );
        view.extend_from_slice(row.path);
        view.push(b'\n');
    }
    let modules = page.into_iter().map(Row::record).collect();
    Ok(Answer::new(
        Output {
            total,
            modules,
            next_offset,
        },
        words,
    )
    .view(view))
}

/// A line of the listing.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    kind: &'static str,
    base: u64,
    size: Option<u64>,
    entry: Option<u64>,
    name: &'a [u8],
    path: &'a [u8],
}

impl Row<'_> {
    fn mentions(&self, wanted: &str) -> bool {
        [self.name, self.path].iter().any(|text| {
            String::from_utf8_lossy(text)
                .to_ascii_lowercase()
                .contains(wanted)
        })
    }

    fn record(&self) -> Module {
        Module {
            kind: self.kind,
            base: Hex(self.base),
            size: self.size.map(Hex),
            entry: self.entry.map(Hex),
            name: Captured::new(self.name),
            path: Captured::new(self.path),
        }
    }
}

/// Reads both parts of a listing. Kernel rows: base, size, name, path; user rows: base, entry point, path. Columns are
/// separated by tabs, several after a short name. A row that does not have its form is left out.
fn parse(text: &[u8]) -> Vec<Row<'_>> {
    let mut kernel = false;
    let mut rows = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii_end();
        match line {
            b"kernel mode" => kernel = true,
            b"user mode" => kernel = false,
            _ => rows.extend(if kernel { kernel_row(line) } else { user_row(line) }),
        }
    }
    rows
}

fn kernel_row(line: &[u8]) -> Option<Row<'_>> {
    let (base, rest) = column(line)?;
    let (size, rest) = column(rest)?;
    let (name, rest) = column(rest)?;
    let skip = rest.iter().take_while(|byte| **byte == b'\t').count();
    Some(Row {
        kind: "kernel",
        base: number(base)?,
        size: Some(number(size)?),
        entry: None,
        name,
        path: &rest[skip..],
    })
}

fn user_row(line: &[u8]) -> Option<Row<'_>> {
    let (base, rest) = column(line)?;
    let (entry, path) = column(rest)?;
    let name = path
        .rsplit(|byte| matches!(byte, b'\\' | b'/'))
        .next()
        .unwrap_or(path);
    Some(Row {
        kind: "user",
        base: number(base)?,
        size: None,
        entry: Some(number(entry)?),
        name,
        path,
    })
}

fn column(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    Some((&line[..tab], &line[tab + 1..]))
}

fn number(digits: &[u8]) -> Option<u64> {
    let text: String = std::str::from_utf8(digits)
        .ok()?
        .chars()
        .filter(|ch| *ch != '`')
        .collect();
    u64::from_str_radix(text.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &[u8] = b"user mode\nstart\t\t\tentrypoint\t\tpath\n\n\
        00007ff600000000\t00007ff600001000\tC:\\Program Files\\app name.exe\n\
        \n==============================================================================\n\n\
        kernel mode\nstart\t\t\tsize\tname\t\t\t\tpath\n\n\
        fffff800`10000000\t1040000\tntoskrnl.exe\t\t\t\\SystemRoot\\system32\\ntoskrnl.exe\n\
        fffff800`20000000\t9000\ta-very-long-driver-name.sys\t\\??\\C:\\x\\a-very-long-driver-name.sys\n";

    #[test]
    fn both_parts_of_a_listing_become_rows() {
        let rows = parse(LISTING);
        assert_eq!(rows.len(), 3);
        assert_eq!(
            rows[0],
            Row {
                kind: "user",
                base: 0x7ff6_0000_0000,
                size: None,
                entry: Some(0x7ff6_0000_1000),
                name: b"app name.exe",
                path: b"C:\\Program Files\\app name.exe",
            }
        );
        assert_eq!(
            (rows[1].base, rows[1].size, rows[1].name),
            (0xffff_f800_1000_0000, Some(0x104_0000), &b"ntoskrnl.exe"[..])
        );
        assert_eq!(rows[1].path, b"\\SystemRoot\\system32\\ntoskrnl.exe");
        assert_eq!(rows[2].path, b"\\??\\C:\\x\\a-very-long-driver-name.sys");
        assert!(rows[2].mentions("long-driver") && !rows[0].mentions("nt"));
    }

    #[test]
    fn what_has_no_form_is_left_out_and_bytes_survive() {
        assert!(parse(b"").is_empty());
        assert!(
            parse(b"err, unable get modules information\nkernel mode\nx\ty\tz\tw\n\xff\t\xfe\n").is_empty()
        );
        let rows = parse(b"kernel mode\nfffff80010000000\t1000\tb\xff\x1bd.sys\t\t\t\\x\xff\n");
        assert_eq!(rows[0].name, b"b\xff\x1bd.sys");
        // What the first byte is shown as depends on the code page of the system.
        let record = serde_json::to_value(rows[0].record()).unwrap();
        let name = record["name"].as_str().unwrap();
        assert!(name.starts_with('b') && name.ends_with("\\x1bd.sys"), "{name}");
    }
}
