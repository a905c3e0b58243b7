//! `settings`.

use super::Input;
use crate::disassembly::Syntax;
use crate::say;
use crate::session::Session;

/// `settings NAME [VALUE]`.
pub(super) fn settings(input: &Input<'_>) {
    let session = input.session;
    let (name, value) = match input.arguments() {
        [] => return input.misuse(),
        [name] => (name.lower(), None),
        [name, value] => (name.lower(), Some(value.lower())),
        _ => return wrong_setting(input),
    };
    let text = match name.as_str() {
        "autounpause" => switch(session, "auto-unpause", value.as_deref(), |state| {
            &mut state.settings.auto_unpause
        }),
        "autoflush" => switch(session, "auto-flush", value.as_deref(), |state| {
            &mut state.settings.auto_flush
        }),
        "addressconversion" => switch(session, "address conversion", value.as_deref(), |state| {
            &mut state.settings.address_conversion
        }),
        "syntax" => syntax(session, value.as_deref()),
        _ => None,
    };
    match text {
        Some(text) => session.console.say(&text),
        None => wrong_setting(input),
    }
}

fn wrong_setting(input: &Input<'_>) {
    let word = input.word();
    say!(
        input.session.console,
        "incorrect use of the '{word}', please use 'help {word}' for more information\n"
    );
}

type Switch = fn(&mut crate::session::State) -> &mut bool;

fn switch(session: &Session, name: &str, value: Option<&str>, slot: Switch) -> Option<String> {
    let mut state = session.lock();
    let slot = slot(&mut state);
    let verb = match value {
        None => "is",
        Some("on") => {
            *slot = true;
            "to"
        }
        Some("off") => {
            *slot = false;
            "to"
        }
        Some(_) => return None,
    };
    let status = if *slot { "enabled" } else { "disabled" };
    Some(if verb == "is" {
        format!("{name} is {status}\n")
    } else {
        format!("set {name} to {status}\n")
    })
}

fn syntax(session: &Session, value: Option<&str>) -> Option<String> {
    let mut state = session.lock();
    let name = |syntax| match syntax {
        Syntax::Intel => "intel",
        Syntax::Att => "at&t",
        Syntax::Masm => "masm",
    };
    let Some(value) = value else {
        return Some(format!(
            "disassembler syntax is : {}\n",
            name(state.settings.syntax)
        ));
    };
    state.settings.syntax = match value {
        "intel" => Syntax::Intel,
        "att" | "at&t" => Syntax::Att,
        "masm" => Syntax::Masm,
        _ => return None,
    };
    Some(format!("set syntax to {}\n", name(state.settings.syntax)))
}
