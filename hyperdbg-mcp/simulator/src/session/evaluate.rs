//! Expressions and scripts of commands: parsed here, run where the session is.

use super::target::{EventContext, Host, View};
use super::{Place, Session, State};
use crate::errors::{self, code};
use crate::say;
use crate::script::{self, Outcome, ParseError, RunError};
use crate::tokens::parse_number;

impl State {
    /// Where expressions are evaluated now.
    #[must_use]
    pub fn place(&self) -> Place {
        if self.is_serial() || self.user.is_some() {
            Place::Core(self.view_core())
        } else {
            Place::Host
        }
    }

    fn run_script(&mut self, script: &script::Script) -> (Outcome, Result<(), RunError>) {
        match self.place() {
            Place::Host => script::run(script, &mut Host, &mut self.globals),
            Place::Core(core) => {
                let event = EventContext::default();
                let mut view = View {
                    machine: &mut self.machine,
                    core,
                    event,
                };
                let result = script::run(script, &mut view, &mut self.globals);
                self.grant(&result.0.requests);
                result
            }
        }
    }
}

impl Session {
    /// Parses a script and ends the process where the real parser does.
    ///
    /// # Errors
    /// The place that cannot be understood.
    pub fn parse_script(&self, text: &str) -> Result<script::Script, ParseError> {
        let parsed = {
            let state = self.lock();
            script::parse(text, &state.globals, &|name| state.symbol(name))
        };
        if parsed.as_ref().is_err_and(|error| error.fatal) {
            std::process::abort();
        }
        parsed
    }

    /// Prints a parse error in the engine's layout.
    pub fn show_parse_error(&self, text: &str, error: &ParseError) {
        let before = &text[..error.column.min(text.len())];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let shown = text[start..].lines().next().unwrap_or_default();
        say!(
            self.console,
            "Line {line}:\n{shown}\n{}^\nSyntax Error: {}\n",
            " ".repeat(error.column.saturating_sub(start)),
            error.message
        );
    }

    /// Runs statements in the attached target and prints what they print. False when nothing is
    /// attached, the target runs, or the text is no script.
    pub fn run_statements(&self, text: &str, show_errors: bool) -> bool {
        {
            let state = self.lock();
            if !state.is_serial() && state.user.is_none() {
                if show_errors {
                    say!(
                        self.console,
                        "err, no debuggee is connected (neither user debugger nor kernel debugger)\n"
                    );
                }
                return false;
            }
            if !state.is_serial() && !state.is_user_paused() {
                if show_errors {
                    say!(
                        self.console,
                        "err, the target process is running; 'pause' it first\n"
                    );
                }
                return false;
            }
        }
        match self.parse_script(text) {
            Err(error) => {
                if show_errors {
                    self.show_parse_error(text, &error);
                }
                false
            }
            Ok(script) => {
                let (outcome, result) = self.lock_halted().run_script(&script);
                self.finish(&outcome, &result);
                true
            }
        }
    }

    /// Prints what a run printed, and its error.
    fn finish(&self, outcome: &Outcome, result: &Result<(), RunError>) {
        for line in outcome.text.split_inclusive(|byte| *byte == b'\n') {
            self.console.say_bytes(line);
        }
        if let Err(error) = result {
            say!(self.console, "err, {error}\n");
            errors::show(&self.console, code::SCRIPT);
        }
    }

    /// The value of an expression. The text is pasted into a call, so it can hold more than one.
    pub fn evaluate(&self, expression: &str) -> Option<u64> {
        let text = format!("formats({expression});");
        {
            let state = self.lock();
            if state.user.is_some() && !state.is_serial() && !state.is_user_paused() {
                drop(state);
                say!(
                    self.console,
                    "err, the target process is running; 'pause' it first\n"
                );
                return None;
            }
        }
        match self.parse_script(&text) {
            Err(error) => {
                self.show_parse_error(&text, &error);
                None
            }
            Ok(script) => {
                let (outcome, result) = self.lock_halted().run_script(&script);
                self.finish(&outcome, &result);
                if result.is_err() { None } else { outcome.formatted }
            }
        }
    }

    /// Runs statements in this process, whatever is attached: the self test of the engine.
    pub fn run_in_host(&self, text: &str) -> bool {
        match self.parse_script(text) {
            Err(error) => {
                self.show_parse_error(text, &error);
                false
            }
            Ok(script) => {
                let (outcome, result) = {
                    let mut state = self.lock();
                    script::run(&script, &mut Host, &mut state.globals)
                };
                self.finish(&outcome, &result);
                result.is_ok()
            }
        }
    }

    /// An address as commands take it: a number, else a symbol, else an expression.
    pub fn address(&self, text: &str) -> Option<u64> {
        if let Some(number) = parse_number(text) {
            return Some(number);
        }
        let symbol = self.lock().symbol(text);
        symbol.or_else(|| self.evaluate(text))
    }
}
