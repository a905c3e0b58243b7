//! The command table and its dispatch.

pub(crate) mod assembly;
pub(crate) mod connection;
mod events;
pub(crate) mod general;
pub(crate) mod memory;
mod modules;
pub(crate) mod points;
mod process;
pub(crate) mod register;
pub(crate) mod running;
mod search;
mod settings;
mod stack;
pub(crate) mod tables;
mod text;

use crate::say;
use crate::session::{Link, Run, Session};
use crate::tokens::{Token, tokenize};

/// How a command travels in debugger mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Travel {
    /// Handled here.
    Here,
    /// Executed by the debuggee's own program, which halts again afterwards.
    Forwarded,
    /// The same, and the debuggee runs on until its next stop.
    ForwardedRunning,
}

/// What a handler gets.
pub(crate) struct Input<'a> {
    /// The session.
    session: &'a Session,
    /// Tokens, the command word first.
    tokens: &'a [Token],
    /// The whole line.
    line: &'a str,
}

impl Input<'_> {
    /// The command word as written.
    fn word(&self) -> &str {
        &self.tokens[0].text
    }

    /// The command word in lower case.
    fn command(&self) -> String {
        self.tokens[0].lower()
    }

    /// The arguments.
    fn arguments(&self) -> &[Token] {
        &self.tokens[1..]
    }

    /// The line behind the command word, trimmed: for the commands that do not work on tokens.
    fn rest(&self) -> &str {
        let line = self.line.trim();
        line.get(self.word().len()..).unwrap_or_default().trim()
    }

    /// Says that the command was used wrongly, and how it is used.
    fn misuse(&self) {
        say!(self.session.console, "incorrect use of the '{}'\n\n", self.word());
        if let Some(command) = find(&self.command()) {
            command.show_help(self.session);
        }
    }

    /// Says which token is wrong.
    fn unresolved(&self, token: &str) {
        say!(self.session.console, "err, couldn't resolve error at '{token}'\n");
    }

    /// An address argument; says so when it is none.
    fn address(&self, token: &Token) -> Option<u64> {
        let address = self.session.address(&token.text);
        if address.is_none() {
            self.unresolved(&token.text);
        }
        address
    }
}

type Handler = fn(&Input<'_>);

/// One command.
struct Command {
    names: &'static [&'static str],
    summary: &'static str,
    syntax: &'static [&'static str],
    travel: Travel,
    /// An empty line repeats it.
    repeats: bool,
    /// Handled here even when a remote session over TCP is connected.
    stays_over_tcp: bool,
    handler: Handler,
}

impl Command {
    const fn new(
        names: &'static [&'static str],
        summary: &'static str,
        syntax: &'static [&'static str],
        handler: Handler,
    ) -> Self {
        Self {
            names,
            summary,
            syntax,
            travel: Travel::Here,
            repeats: false,
            stays_over_tcp: false,
            handler,
        }
    }

    const fn forwarded(mut self) -> Self {
        self.travel = Travel::Forwarded;
        self
    }

    const fn forwarded_running(mut self) -> Self {
        self.travel = Travel::ForwardedRunning;
        self
    }

    const fn repeats(mut self) -> Self {
        self.repeats = true;
        self
    }

    const fn stays(mut self) -> Self {
        self.stays_over_tcp = true;
        self
    }

    fn show_help(&self, session: &Session) {
        say!(session.console, "{} : {}\n\n", self.names[0], self.summary);
        for syntax in self.syntax {
            say!(session.console, "syntax : \t{syntax}\n");
        }
    }
}

fn find(word: &str) -> Option<&'static Command> {
    text::COMMANDS
        .iter()
        .find(|command| command.names.contains(&word))
}

/// Every spelling that the table knows, in table order.
pub fn spellings() -> impl Iterator<Item = &'static str> {
    text::COMMANDS.iter().flat_map(|command| command.names).copied()
}

/// Runs a command line as `hyperdbg_u_run_command` does: 2 when it was sent to a remote, else 0,
/// whatever happened.
pub fn run_command(session: &Session, line: &str) -> i32 {
    let tokens = tokenize(line);
    let Some(first) = tokens.first() else {
        say!(session.console, "\n");
        return 0;
    };
    let word = first.lower();
    if word != "!sim" {
        session.share().misbehave_in_command(&word);
    }
    let command = find(&word);
    let link = session.lock().link.clone();
    if matches!(link, Link::Tcp { .. }) && !command.is_some_and(|command| command.stays_over_tcp) {
        if let Some(peer) = session.peer() {
            run_command(&peer, line);
        }
        say!(session.console, "\n");
        return 2;
    }
    let input = Input {
        session,
        tokens: &tokens,
        line,
    };
    if link == Link::Serial
        && let Some(command) = command.filter(|command| command.travel != Travel::Here)
    {
        return forward(&input, command);
    }
    session.lock().repeat = command.is_some_and(|command| command.repeats);
    match command {
        Some(command) => (command.handler)(&input),
        None => say!(
            session.console,
            "err, couldn't resolve command at '{}'\n",
            first.text
        ),
    }
    0
}

/// Lets the debuggee's own program execute the command.
fn forward(input: &Input<'_>, command: &Command) -> i32 {
    drop(input.session.lock_halted());
    match command.travel {
        Travel::ForwardedRunning => {
            say!(input.session.console, "debuggee is running...\n");
            input.session.resume(Run::Continue);
        }
        _ => {
            (command.handler)(input);
            say!(input.session.console, "\n");
        }
    }
    2
}

/// The help form: `.help WORD`.
fn help(input: &Input<'_>) {
    let [topic] = input.arguments() else {
        return input.misuse();
    };
    match find(&topic.lower()) {
        Some(command) => command.show_help(input.session),
        None => {
            say!(
                input.session.console,
                "err, couldn't find the help for the command at '{}'\n",
                topic.text
            );
        }
    }
}

#[cfg(test)]
mod tests;
