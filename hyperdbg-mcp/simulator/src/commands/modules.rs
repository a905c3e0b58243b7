//! Modules and symbols: `lm x .sym .sympath`.

use super::Input;
use crate::disassembly::separated;
use crate::errors::{self, code};
use crate::machine::Module;
use crate::say;
use crate::session::Session;
use crate::tokens::Token;

/// `lm [pid N] [m TEXT] [km|um]`.
pub(super) fn modules(input: &Input<'_>) {
    let session = input.session;
    let mut pid = None;
    let mut filter = None;
    let (mut kernel, mut user) = (true, true);
    let mut rest = input.arguments().iter();
    while let Some(token) = rest.next() {
        match token.lower().as_str() {
            "pid" => match rest.next().map(Token::number32) {
                Some(Some(number)) => pid = Some(number),
                Some(None) | None => {
                    say!(
                        session.console,
                        "err, please enter a valid process id in hex format, or with '0n' in decimal\n"
                    );
                    return;
                }
            },
            "m" => match rest.next() {
                Some(text) => filter = Some(text.lower()),
                None => {
                    say!(
                        session.console,
                        "err, please enter a valid string to search in modules\n"
                    );
                    return;
                }
            },
            "km" if !kernel => return both_kinds(session),
            "um" if !user => return both_kinds(session),
            "km" => user = false,
            "um" => kernel = false,
            _ => {
                say!(
                    session.console,
                    "err, couldn't resolve error at '{}'\n\n",
                    token.text
                );
                return input.misuse();
            }
        }
    }
    let matches = |module: &&Module| {
        filter
            .as_ref()
            .is_none_or(|filter| module.path.to_ascii_lowercase().contains(filter.as_str()))
    };
    if user {
        if !session.needs_kd() {
            return;
        }
        show_user_modules(session, pid.unwrap_or_else(|| session.default_pid()), &matches);
    }
    if kernel {
        if user {
            say!(session.console, "\n{}\n\n", "=".repeat(78));
        }
        show_kernel_modules(session, &matches);
    }
}

fn both_kinds(session: &Session) {
    say!(
        session.console,
        "err, 'um' and 'km' exclude each other; without them both kinds of modules are shown\n"
    );
}

type Matches<'a> = &'a dyn Fn(&&Module) -> bool;

fn show_user_modules(session: &Session, pid: u32, matches: Matches<'_>) {
    let modules: Option<Vec<Module>> = {
        let state = session.lock_halted();
        let process = state.process_of(pid).map(|process| process.pid);
        process.map(|pid| state.machine.user_modules(pid).filter(matches).cloned().collect())
    };
    let Some(modules) = modules else {
        errors::show(&session.console, code::PROCESS_ID);
        return;
    };
    say!(session.console, "user mode\n");
    say!(session.console, "start\t\t\tentrypoint\t\tpath\n\n");
    for module in modules {
        say!(
            session.console,
            "{:016x}\t{:016x}\t{}\n",
            module.base,
            module.entry,
            module.path
        );
    }
}

fn show_kernel_modules(session: &Session, matches: Matches<'_>) {
    let modules: Vec<Module> = session
        .lock_halted()
        .machine
        .kernel_modules()
        .filter(matches)
        .cloned()
        .collect();
    say!(session.console, "kernel mode\n");
    say!(session.console, "start\t\t\tsize\tname\t\t\t\tpath\n\n");
    for module in modules {
        say!(session.console, "{}\t", separated(module.base));
        say!(session.console, "{:x}\t", module.size);
        say!(session.console, "{}\t", module.file);
        let tabs = match module.file.len() {
            24.. => "",
            16.. => "\t",
            8.. => "\t\t",
            _ => "\t\t\t",
        };
        session.console.say(tabs);
        say!(session.console, "{}\n", module.path);
    }
}

/// True when `text` fits a pattern with `*`, whatever its case.
fn fits(pattern: &str, text: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let mut rest = text;
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        rest = if index == 0 {
            match rest.strip_prefix(part) {
                Some(rest) => rest,
                None => return false,
            }
        } else if last {
            return rest.ends_with(part);
        } else {
            match rest.find(part) {
                Some(at) => &rest[at + part.len()..],
                None => return false,
            }
        };
        if last {
            return rest.is_empty();
        }
    }
    rest.is_empty()
}

/// `x PATTERN`. Without a module the pattern looks in `nt`.
pub(super) fn examine(input: &Input<'_>) {
    let session = input.session;
    let [pattern] = input.arguments() else {
        return input.misuse();
    };
    let pattern = pattern.lower();
    let pattern = if pattern.contains('!') {
        pattern
    } else {
        format!("nt!{pattern}")
    };
    let found: Vec<(u64, String)> = {
        let state = session.lock();
        let symbols = if state.symbols {
            state.machine.symbols.all()
        } else {
            &[]
        };
        symbols
            .iter()
            .filter(|symbol| fits(&pattern, &symbol.name.to_ascii_lowercase()))
            .map(|symbol| (symbol.address, symbol.name.clone()))
            .collect()
    };
    for (address, name) in found {
        say!(session.console, "{}  {name}\n", separated(address));
    }
}

/// `.sympath [PATH]`, on the raw line.
pub(super) fn symbol_path(input: &Input<'_>) {
    let session = input.session;
    let text = input.rest();
    if text.is_empty() {
        match session.lock().symbol_path.clone() {
            Some(path) => say!(session.console, "current symbol server is : {path}\n"),
            None => say!(
                session.console,
                "symbol server is not configured, please use '.help .sympath'\n"
            ),
        }
        return;
    }
    let path = text.trim_matches('"');
    // An empty quoted path lets an exception escape in the real library.
    if path.is_empty() {
        std::process::abort();
    }
    if path.split('*').count() < 3 || !path.to_ascii_lowercase().starts_with("srv*") {
        say!(session.console, "symbol path is invalid\n\n");
        return input.misuse();
    }
    session.lock().symbol_path = Some(path.to_owned());
    say!(session.console, "symbol server/path is configured successfully\n");
    say!(
        session.console,
        "use '.sym load', '.sym reload', or '.sym download' to load pdb files\n"
    );
}

/// `.sym table|load|reload|download|unload|add`.
pub(super) fn symbols(input: &Input<'_>) {
    let session = input.session;
    let Some(action) = input.arguments().first() else {
        return input.misuse();
    };
    match action.lower().as_str() {
        "table" => {
            let (modules, loaded) = {
                let state = session.lock();
                (state.machine.modules.clone(), state.symbols)
            };
            for module in modules {
                say!(session.console, "is pdb details available? : {loaded}\n");
                say!(session.console, "base address : {:x}\n", module.base);
                say!(session.console, "file path : {}\n", module.path);
                say!(session.console, "is user-mode? : {}\n", module.owner.is_some());
                say!(session.console, "{}\n", "=".repeat(78));
            }
        }
        "load" | "reload" | "download" => {
            session.lock().symbols = true;
            say!(session.console, "symbol table updated successfully\n");
        }
        "unload" => session.lock().symbols = false,
        "add" => say!(session.console, "pdb file not found\n"),
        _ => {
            say!(session.console, "unknown parameter at '{}'\n\n", action.text);
            input.misuse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_with_stars_match_whole_names() {
        assert!(fits("nt!nt*file", "nt!ntcreatefile"));
        assert!(fits("nt!*", "nt!x"));
        assert!(!fits("nt!nt*file", "nt!ntclose"));
        assert!(!fits("nt!ntclos", "nt!ntclose"));
        assert!(fits("*!strlen", "nt!strlen"));
    }
}
