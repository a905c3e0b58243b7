//! `a`, and what stands behind the assemble exports.

use super::Input;
use super::memory::space;
use crate::assembler;
use crate::say;
use crate::session::Session;
use crate::tokens::{Kind, Token};

/// Assembles for an address; prints the bytes, or why there are none.
pub(crate) fn assemble(session: &Session, code: &str, address: u64) -> Option<Vec<u8>> {
    // The real assembler lets an exception escape on a text without any instruction.
    if code
        .trim_matches(|c: char| c.is_whitespace() || c == ';')
        .is_empty()
    {
        std::process::abort();
    }
    // Names in angle brackets are addresses.
    let mut text = String::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once('<') {
        let Some((name, tail)) = after.split_once('>') else {
            break;
        };
        text.push_str(before);
        match session.address(name) {
            Some(value) => text.push_str(&format!("0x{value:x}")),
            None => say!(session.console, "err, failed to resolve the symbol [ {name} ].\n"),
        }
        rest = tail;
    }
    text.push_str(rest);
    let result = {
        let state = session.lock();
        assembler::assemble(&text, address, &|name| state.symbol(name))
    };
    match result {
        Ok(assembled) => {
            say!(
                session.console,
                "generated assembly: {} (decimal) bytes, {} (decimal) statements ==>> ",
                assembled.bytes.len(),
                assembled.statements
            );
            say!(session.console, "{text} = ");
            for byte in &assembled.bytes {
                say!(session.console, "{byte:02x} ");
            }
            say!(session.console, "\n");
            Some(assembled.bytes)
        }
        Err(error) => {
            say!(session.console, "err, failed to assemble {error}\n");
            None
        }
    }
}

/// `a`: assembles, and writes when an address is given.
pub(super) fn assemble_command(input: &Input<'_>) {
    let mut code = None;
    let mut address = None;
    let mut pid = None;
    let mut rest = input.arguments().iter();
    while let Some(token) = rest.next() {
        match token.kind {
            Kind::Block => code = Some(token.text.clone()),
            _ if token.is("pid") => pid = rest.next().and_then(Token::number32),
            _ => {
                let Some(found) = input.address(token) else { return };
                address = Some(found);
            }
        }
    }
    let Some(code) = code else {
        say!(input.session.console, "no assembly snippet provided\n");
        return input.misuse();
    };
    if address.is_none() {
        say!(
            input.session.console,
            "warning, no start address provided to calculate relative asm commands\n\n"
        );
    }
    let Some(bytes) = assemble(input.session, &code, address.unwrap_or(0)) else {
        return;
    };
    if let Some(address) = address {
        let pid = pid.unwrap_or_else(|| input.session.default_pid());
        if input
            .session
            .write_memory(address, space(&input.command()), pid, &bytes)
        {
            say!(
                input.session.console,
                "successfully assembled at 0x{address:016x} address\n"
            );
        } else {
            say!(
                input.session.console,
                "failed to write generated assembly to memory\n"
            );
        }
    }
}
