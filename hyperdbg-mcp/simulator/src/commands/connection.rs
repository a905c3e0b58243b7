//! Connecting, loading, and processes under the user debugger.

use super::Input;
use crate::say;
use crate::session::peer::{is_ip, is_number};
use crate::session::{Link, Session};

/// Speeds that a serial line can have.
pub(crate) const BAUD_RATES: &[u64] = &[
    110, 300, 600, 1200, 2400, 4800, 9600, 14400, 19200, 38400, 56000, 57600, 115_200, 128_000, 256_000,
];

/// True for COM1 to COM4.
pub(crate) fn is_com_port(name: &str) -> bool {
    ["com1", "com2", "com3", "com4"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

const USER_DEBUGGER: &str = "the user debugger of VMI Mode is not part of this build; starting processes works in the Debugger Mode\n";
const NOT_CONNECTED: &str = "you're not connected to any instance of HyperDbg, did you use '.connect'? \n";

/// `.connect local | IP [PORT]`.
pub(super) fn connect(input: &Input<'_>) {
    let session = input.session;
    match session.lock().link {
        Link::None => {}
        Link::Serial => {
            say!(
                session.console,
                "you're connected to an instance of HyperDbg, please use '.debug close' command\n"
            );
            return;
        }
        _ => {
            say!(
                session.console,
                "you're connected to a debugger, please use '.disconnect' command\n"
            );
            return;
        }
    }
    match input.arguments() {
        [word] if word.is("local") => {
            say!(session.console, "local debugging (vmi-mode)\n");
            session.lock().link = Link::Local;
        }
        [ip, rest @ ..] if rest.len() <= 1 => {
            if !is_ip(&ip.text) {
                say!(session.console, "incorrect ip address\n");
                return;
            }
            let port = rest.first().map(|port| port.text.as_str());
            if port
                .is_some_and(|port| !is_number(port) || port.parse::<u32>().map_or(true, |port| port > 65535))
            {
                say!(session.console, "incorrect port\n");
                return;
            }
            session.connect_tcp(&ip.text, port);
        }
        _ => input.misuse(),
    }
}

/// `.disconnect`.
pub(super) fn disconnect(input: &Input<'_>) {
    let session = input.session;
    if !input.arguments().is_empty() {
        return input.misuse();
    }
    let (link, kd) = {
        let state = session.lock();
        (state.link.clone(), state.loaded.kd)
    };
    match link {
        Link::Local if kd => {
            say!(
                session.console,
                "the driver is still loaded: 'unload' comes before disconnecting\n"
            );
            return;
        }
        Link::Local => session.lock().link = Link::None,
        Link::Tcp { .. } => session.drop_peer(),
        _ => {
            say!(session.console, "{NOT_CONNECTED}");
            return;
        }
    }
    say!(session.console, "disconnected successfully\n");
}

/// `.debug remote serial BAUD COM | remote namedpipe PIPE [pause] | close | prepare …`.
pub(super) fn debug(input: &Input<'_>) {
    let session = input.session;
    if let [word] = input.arguments()
        && word.is("close")
    {
        if !session.close_serial() {
            say!(
                session.console,
                "err, debugger is not attached to any instance of debuggee\n"
            );
        }
        return;
    }
    if input.arguments().len() < 3 {
        return input.misuse();
    }
    let (mut remote, mut prepare, mut serial, mut pipe, mut pause) = (false, false, false, false, false);
    let (mut address, mut port, mut baud) = (None, None, None);
    for token in input.arguments() {
        match token.lower().as_str() {
            "remote" if !remote => remote = true,
            "prepare" if !prepare => prepare = true,
            "serial" if !serial => serial = true,
            "namedpipe" if !pipe => pipe = true,
            "pause" if !pause => pause = true,
            _ if pipe && address.is_none() => address = Some(token.text.clone()),
            // The speed is read as a decimal number.
            text if serial && baud.is_none() && is_number(text) => match text.parse::<u64>() {
                Ok(number) if BAUD_RATES.contains(&number) => baud = Some(number),
                _ => {
                    say!(session.console, "err, baud rate is invalid\n\n");
                    return input.misuse();
                }
            },
            text if serial && port.is_none() => {
                if !is_com_port(text) {
                    say!(session.console, "err, COM port is invalid\n\n");
                    return input.misuse();
                }
                port = Some(text.to_owned());
            }
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
    let complaint = match (remote, prepare) {
        (true, true) => Some("err, both 'remote' and 'prepare' can't be used together\n\n"),
        (false, false) => Some("err, either 'remote' or 'prepare' should be used\n\n"),
        _ if prepare && pause => Some("err, 'pause' cannot be used with 'prepare'\n\n"),
        _ if prepare && pipe => Some("err, named pipe cannot be used with 'prepare'\n\n"),
        _ if serial && (port.is_none() || baud.is_none()) => {
            Some("err, COM port address or baudrate is unknown\n\n")
        }
        _ if pipe && address.is_none() => Some("err, named pipe address is empty\n\n"),
        _ => None,
    };
    if let Some(complaint) = complaint {
        say!(session.console, "{complaint}");
        return input.misuse();
    }
    if prepare {
        become_debuggee(session);
    } else {
        session.connect_serial(pause);
    }
}

/// The machine cannot be debugged from outside: nobody answers on the other side.
pub(crate) fn become_debuggee(session: &Session) -> bool {
    say!(
        session.console,
        "err, no debugger listens on the serial port of the simulated machine\n"
    );
    false
}

/// `.status` and `status`.
pub(super) fn status(input: &Input<'_>) {
    let session = input.session;
    let link = session.lock().link.clone();
    match link {
        Link::Serial => say!(session.console, "remote debugging - debugger ('debugger mode')\n"),
        Link::Tcp { ip, port } => say!(
            session.console,
            "remote debugging ('vmi mode'), ip : {ip}:{port} \n"
        ),
        Link::Local => say!(session.console, "local debugging ('vmi mode')\n"),
        Link::None => say!(
            session.console,
            "err, you're not connected to any instance of HyperDbg\n"
        ),
    }
}

/// `load vmm|kd|trace|all`.
pub(super) fn load(input: &Input<'_>) {
    let session = input.session;
    let [module] = input.arguments() else {
        return input.misuse();
    };
    if session.lock().link != Link::Local {
        say!(session.console, "{NOT_CONNECTED}");
        return;
    }
    let loaded = session.lock().loaded;
    let (name, already, load): (&str, bool, fn(&Session) -> i32) = match module.lower().as_str() {
        "vmm" | "vm" => ("vmm", loaded.vmm, Session::load_vmm),
        "kd" | "dbg" | "debug" | "debugger" | "kerneldebug" | "kerneldebugger" => {
            ("kd", loaded.kd, Session::load_kd)
        }
        "trace" | "hypertrace" => ("trace", loaded.trace, Session::load_trace),
        "all" | "." => ("all", false, Session::load_all),
        _ => {
            say!(session.console, "err, module not found\n");
            return;
        }
    };
    if already {
        say!(
            session.console,
            "the {name} module is running already; 'unload' comes before loading it again\n"
        );
        return;
    }
    let what = if name == "all" {
        "all modules".to_owned()
    } else {
        format!("the {name} module")
    };
    say!(session.console, "loading {what}\n");
    if session.install_driver() != 0 || load(session) != 0 {
        say!(session.console, "failed to install or load the driver\n");
    }
}

/// `unload vmm|kd|trace|all`, `unload remove all`.
pub(super) fn unload(input: &Input<'_>) {
    let session = input.session;
    if session.lock().link != Link::Local {
        say!(session.console, "{NOT_CONNECTED}");
        return;
    }
    let loaded = session.lock().loaded;
    match input.arguments() {
        [module] if module.is("all") => {
            if !loaded.kd {
                say!(session.console, "no module is loaded\n");
            } else if session.unload_all() == 0 {
                say!(session.console, "all modules are unloaded\n");
            } else {
                say!(session.console, "err, failed to unload all modules\n");
            }
        }
        [word, all] if word.is("remove") && all.is("all") => {
            if session.unload_all() != 0 || session.stop_driver() != 0 || session.uninstall_driver() != 0 {
                say!(session.console, "err, failed to uninstall the driver\n");
            } else {
                say!(session.console, "all drivers are removed\n");
            }
        }
        [module] => {
            let (name, is_loaded, unload): (&str, bool, fn(&Session) -> i32) = match module.lower().as_str() {
                "vmm" | "vm" => ("vmm", loaded.vmm, Session::unload_vmm),
                "trace" | "hypertrace" => ("trace", loaded.trace, Session::unload_trace),
                "kd" | "dbg" | "debug" => ("kd", loaded.kd, Session::unload_kd),
                _ => {
                    say!(session.console, "err, module not found\n");
                    return;
                }
            };
            if is_loaded {
                unload(session);
            } else {
                say!(session.console, "the {name} module is not loaded\n");
            }
        }
        _ => input.misuse(),
    }
}

/// `.listen`: waits for a peer that never comes.
pub(super) fn listen(input: &Input<'_>) {
    let session = input.session;
    if session.lock().link != Link::Local {
        say!(session.console, "{NOT_CONNECTED}");
        return;
    }
    let port = input
        .arguments()
        .first()
        .map_or("50000", |port| port.text.as_str());
    say!(session.console, "listening on {port} ...\n");
    loop {
        std::thread::park();
    }
}

/// `.start`, `.attach`, `.restart`: compiled out of released builds.
pub(super) fn start(input: &Input<'_>) {
    input.session.console.say(USER_DEBUGGER);
}

/// `.detach`, `.kill`.
pub(super) fn detach(input: &Input<'_>) {
    let session = input.session;
    let had = session.lock().user.take().is_some();
    session.notify();
    if had {
        say!(session.console, "the process is released\n");
    } else {
        say!(session.console, "err, you're not attached to any thread\n");
    }
}

/// `.switch [list | pid N | tid N]`.
pub(super) fn switch(input: &Input<'_>) {
    let session = input.session;
    match input.arguments() {
        [] => list_targets(session),
        [word] if word.is("list") => list_targets(session),
        // The real library lets an exception escape when the number is missing.
        [word] if word.is("pid") || word.is("tid") => std::process::abort(),
        [word, _] if word.is("pid") || word.is("tid") => {
            crate::errors::show(&session.console, 0xc000_0035);
        }
        _ => input.misuse(),
    }
}

fn list_targets(session: &Session) {
    match session.lock().user.clone() {
        Some(user) => say!(
            session.console,
            "process : {:x}\n\tthread : {:x}\n",
            user.pid,
            user.tid
        ),
        None => say!(session.console, "no active debugging process\n"),
    }
}
