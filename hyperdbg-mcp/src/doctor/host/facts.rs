//! What is asked of Windows, and what the answers mean for HyperDbg.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;

/// An answer, or why there is none.
pub(super) type Probe<T> = Result<T, String>;

/// `CODEINTEGRITY_OPTION_ENABLED`: drivers must be signed.
const ENFORCED: u32 = 0x1;
/// `CODEINTEGRITY_OPTION_TESTSIGN`: test signatures count.
const TEST_SIGNING: u32 = 0x2;
/// `CODEINTEGRITY_OPTION_HVCI_KMCI_ENABLED`: the hypervisor enforces it.
const BY_HYPERVISOR: u32 = 0x400;

/// What the processor says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Processor {
    /// Vendor string.
    pub(super) vendor: String,
    /// VT-x.
    pub(super) vmx: bool,
    /// The name of the hypervisor beneath, where there is one.
    pub(super) hypervisor: Option<String>,
    /// EPT, as Windows sees it.
    pub(super) second_level_translation: bool,
    /// VT-x switched on by the firmware, as Windows sees it.
    pub(super) firmware_allows: bool,
}

/// What Windows says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// This is wine.
    pub(super) wine: bool,
    pub(super) administrator: Probe<bool>,
    /// Options of code integrity in this boot.
    pub(super) code_integrity: Probe<u32>,
    /// Virtualization-based security in this boot: running, enforcing code integrity.
    pub(super) isolated: Probe<(bool, bool)>,
    /// Whether code integrity by the hypervisor is switched on for the next boot.
    pub(super) memory_integrity_configured: Probe<bool>,
    /// A kernel debugger in this boot: enabled, attached.
    pub(super) kernel_debugger: Probe<(bool, bool)>,
    /// Options that this boot was started with.
    pub(super) start_options: Probe<String>,
    /// Options of the current boot entry, by their names.
    pub(super) boot_entry: Probe<BTreeMap<String, String>>,
    pub(super) processor: Probe<Processor>,
    /// State of the driver's service, in the service manager's numbers.
    pub(super) driver: Probe<Option<u32>>,
    /// File names of the programs that run, in lower case.
    pub(super) running: Probe<BTreeSet<String>>,
}

/// What the facts mean.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    if facts.wine {
        findings.push(
            Finding::info("host.system", "this is wine, not Windows")
                .why("what it says of drivers, signing and security is not what Windows would say"),
        );
    }
    findings.push(administrator(&facts.administrator));
    findings.push(signing(facts));
    findings.push(boot_entry(&facts.boot_entry));
    findings.push(virtualization_based_security(facts));
    findings.extend(processor(&facts.processor));
    findings.push(driver(&facts.driver));
    findings.push(debugger(facts));
    findings.extend(debuggers(&facts.running));
    findings
}

fn administrator(probe: &Probe<bool>) -> Finding {
    const ID: &str = "host.administrator";
    match probe {
        Ok(true) => Finding::ok(ID, "this process has administrator rights"),
        Ok(false) => Finding::warning(ID, "this process has no administrator rights")
            .why("only an administrator can load HyperDbg's driver")
            .todo("Start the MCP client, or this server, as administrator to debug this machine."),
        Err(why) => Finding::unknown(ID, "whether this process has administrator rights", why),
    }
}

fn signing(facts: &Facts) -> Finding {
    const ID: &str = "host.driver_signing";
    let attached = matches!(facts.kernel_debugger, Ok((_, true)));
    let test_signing_asked = facts
        .start_options
        .as_ref()
        .is_ok_and(|options| has_option(options, "TESTSIGNING"));
    match &facts.code_integrity {
        Ok(options) if options & ENFORCED == 0 => Finding::ok(ID, "driver signatures are not enforced in this boot"),
        Ok(_) if attached => Finding::info(
            ID,
            "driver signatures are enforced, but a kernel debugger is attached, which lets unsigned drivers load",
        ),
        Ok(options) if options & TEST_SIGNING != 0 => Finding::warning(
            ID,
            "test-signing is on: drivers with a test signature load, unsigned ones do not",
        )
        .why("the drivers of HyperDbg's releases are not signed")
        .todo("Sign them with a test certificate, or start Windows with F8/F7, \"Disable driver signature enforcement\"."),
        Ok(_) => Finding::warning(ID, "driver signatures are enforced")
            .why("the drivers of HyperDbg's releases are not signed, so Windows does not load them")
            .todo(
                "Start Windows with \"Disable driver signature enforcement\" (advanced startup, F7; it holds for one boot), \
                 or attach a kernel debugger.",
            ),
        Err(why) => Finding::unknown(
            ID,
            match test_signing_asked {
                true => "whether driver signatures are enforced; this boot was started with TESTSIGNING",
                false => "whether driver signatures are enforced",
            },
            why,
        ),
    }
}

/// Whether a list of boot options holds one, alone or with a value.
fn has_option(options: &str, name: &str) -> bool {
    options
        .split_whitespace()
        .any(|option| option.split('=').next().unwrap_or("").eq_ignore_ascii_case(name))
}

/// Options of the boot entry that matter.
pub(super) const BOOT_OPTIONS: [&str; 6] = [
    "testsigning",
    "nointegritychecks",
    "debug",
    "bootdebug",
    "hypervisorlaunchtype",
    "vsmlaunchtype",
];

/// Takes the options that matter out of what `bcdedit /enum` prints. Names of options are the same in every language,
/// their values are not.
pub(super) fn parse_boot_entry(printed: &str) -> BTreeMap<String, String> {
    printed
        .lines()
        .filter_map(|line| line.trim_end().split_once(char::is_whitespace))
        .filter(|(name, _)| BOOT_OPTIONS.contains(name))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

fn boot_entry(probe: &Probe<BTreeMap<String, String>>) -> Finding {
    const ID: &str = "host.boot_entry";
    match probe {
        Ok(options) if options.is_empty() => Finding::info(
            ID,
            "bcdedit shows none of test-signing, integrity checks, debugging and hypervisor launch in the boot entry",
        )
        .why("Windows' defaults hold at the next start: signatures are enforced, no kernel debugger"),
        Ok(options) => {
            let options: Vec<String> = options.iter().map(|(name, value)| format!("{name} {value}")).collect();
            Finding::info(ID, format!("bcdedit shows in the boot entry: {}", options.join(", ")))
                .why("this holds at the next start; what holds now is told above")
        }
        Err(why) => Finding::unknown(ID, "what bcdedit shows of the boot entry", why),
    }
}

fn virtualization_based_security(facts: &Facts) -> Finding {
    const ID: &str = "host.virtualization_based_security";
    const WHY: &str = "HyperDbg must be the first hypervisor; Windows' own holds that place then";
    const TODO: &str = "Switch memory integrity off (Windows security, device security, core isolation), run `bcdedit /set \
                        hypervisorlaunchtype off` as administrator, and restart. Debugging another machine needs none of \
                        this.";
    let enforced = facts
        .code_integrity
        .as_ref()
        .is_ok_and(|options| options & BY_HYPERVISOR != 0);
    match &facts.isolated {
        Ok((_, true)) => Finding::warning(ID, "virtualization-based security runs and enforces memory integrity (HVCI)")
            .why(WHY)
            .todo(TODO),
        _ if enforced => Finding::warning(ID, "memory integrity (HVCI) is enforced").why(WHY).todo(TODO),
        Ok((true, false)) => Finding::warning(ID, "virtualization-based security runs").why(WHY).todo(TODO),
        Ok((false, false)) => match facts.memory_integrity_configured {
            Ok(true) => Finding::warning(
                ID,
                "virtualization-based security does not run, but memory integrity is switched on for the next start",
            )
            .why(WHY)
            .todo(TODO),
            _ => Finding::ok(ID, "virtualization-based security does not run"),
        },
        Err(why) => match facts.memory_integrity_configured {
            Ok(true) => Finding::warning(ID, "memory integrity is switched on in the registry; whether it runs is unknown")
                .why(why.clone())
                .todo(TODO),
            _ => Finding::unknown(ID, "whether virtualization-based security runs", why),
        },
    }
}

fn processor(probe: &Probe<Processor>) -> Vec<Finding> {
    const VTX: &str = "host.vt_x";
    const EPT: &str = "host.ept";
    let processor = match probe {
        Ok(processor) => processor,
        Err(why) => {
            return vec![Finding::unknown(
                VTX,
                "whether the processor has VT-x and EPT",
                why,
            )];
        }
    };
    let mut findings = Vec::new();
    let beneath = processor.hypervisor.as_deref();
    findings.push(match beneath {
        None => Finding::ok("host.hypervisor", "no hypervisor runs beneath Windows"),
        Some(name) => Finding::warning(
            "host.hypervisor",
            format!("a hypervisor runs beneath Windows: {name}"),
        )
        .why("HyperDbg's own then needs nested virtualization, or does not start")
        .todo(
            "In a virtual machine, switch nested VT-x on. On a real one it is Hyper-V: run `bcdedit /set \
                 hypervisorlaunchtype off` as administrator and restart.",
        ),
    });
    if processor.vendor != "GenuineIntel" {
        findings.push(
            Finding::warning(VTX, format!("the processor is from {}, not from Intel", processor.vendor))
                .why("HyperDbg's hypervisor needs Intel's VT-x and EPT")
                .todo("Use an Intel processor to debug this machine; to debug another one, this one's does not matter."),
        );
        return findings;
    }
    findings.push(match (processor.vmx, processor.firmware_allows, beneath) {
        (false, _, None) => Finding::warning(VTX, "the processor has no VT-x")
            .why("HyperDbg's hypervisor needs it")
            .todo("Use another processor to debug this machine."),
        (false, _, Some(_)) => Finding::warning(VTX, "the hypervisor beneath hides VT-x")
            .why("HyperDbg's hypervisor needs it")
            .todo("Switch nested virtualization on."),
        (true, false, None) => Finding::warning(
            VTX,
            "the processor has VT-x, but the firmware has it switched off",
        )
        .todo("Switch \"Intel Virtualization Technology\" on in the firmware's setup."),
        (true, ..) => Finding::ok(VTX, "the processor has VT-x"),
    });
    findings.push(match (processor.second_level_translation, beneath) {
        (true, _) => Finding::ok(EPT, "the processor has EPT"),
        // Beneath a hypervisor Windows reports neither way, and the register that tells is the kernel's.
        (false, Some(_)) => Finding::unknown(
            EPT,
            "whether EPT is there",
            "Windows does not tell beneath a hypervisor",
        ),
        (false, None) => Finding::warning(EPT, "the processor has no EPT")
            .why("HyperDbg's hypervisor needs it")
            .todo("Use another processor to debug this machine."),
    });
    findings
}

fn driver(probe: &Probe<Option<u32>>) -> Finding {
    const ID: &str = "driver.service";
    match probe {
        Ok(None) => Finding::info(ID, "the driver is not installed as a service").why("the library does that when it needs it"),
        Ok(Some(1)) => Finding::info(ID, "the driver's service hyperkd is installed and stopped"),
        Ok(Some(4)) => Finding::warning(ID, "the driver's service hyperkd is running")
            .why("another HyperDbg may be using it, or one has ended without unloading it; installing it again deletes it first")
            .todo("Close the other HyperDbg; if there is none, restart the machine."),
        Ok(Some(state)) => Finding::warning(ID, format!("the driver's service hyperkd is neither stopped nor running (state {state})"))
            .todo("Restart the machine."),
        Err(why) => Finding::unknown(ID, "the state of the driver's service", why),
    }
}

fn debugger(facts: &Facts) -> Finding {
    const ID: &str = "host.kernel_debugger";
    let asked = facts
        .start_options
        .as_ref()
        .is_ok_and(|options| has_option(options, "DEBUG"));
    match &facts.kernel_debugger {
        Ok((true, true)) => Finding::warning(
            ID,
            "another kernel debugger (WinDbg, kd) is attached to this machine",
        )
        .why("both take breakpoints and debug exceptions; it also switches driver signature enforcement off")
        .todo("Let only one of them stop the machine; HyperDbg's own debugger mode does without the other."),
        Ok((true, false)) => {
            Finding::info(ID, "kernel debugging is switched on, and no debugger is attached")
        }
        Ok((false, _)) => Finding::ok(ID, "no other kernel debugger"),
        Err(why) => Finding::unknown(
            ID,
            match asked {
                true => "whether a kernel debugger is attached; this boot was started with DEBUG",
                false => "whether a kernel debugger is attached",
            },
            why,
        ),
    }
}

/// HyperDbg's own programs.
const HYPERDBG: [&str; 2] = ["hyperdbg-cli.exe", "hyperdbg-test.exe"];
/// Kernel debuggers of others.
const DEBUGGERS: [&str; 5] = ["dbgx.shell.exe", "kd.exe", "livekd.exe", "ntkd.exe", "windbg.exe"];

/// Programs that debug as well.
fn debuggers(probe: &Probe<BTreeSet<String>>) -> Vec<Finding> {
    const ID: &str = "host.debuggers";
    let running = match probe {
        Ok(running) => running,
        Err(why) => return vec![Finding::unknown(ID, "which other debuggers run", why)],
    };
    let among = |names: &[&str]| -> Vec<String> {
        let found = names.iter().filter(|name| running.contains(**name));
        found.map(|name| (*name).to_owned()).collect()
    };
    let mut findings = Vec::new();
    let ours = among(&HYPERDBG);
    if !ours.is_empty() {
        findings.push(
            Finding::warning(ID, format!("another HyperDbg runs: {}", ours.join(", ")))
                .why("only one process can hold the driver, and only one the pipe or port of a debuggee")
                .todo("Close it, unless it debugs something else."),
        );
    }
    let others = among(&DEBUGGERS);
    if !others.is_empty() {
        findings.push(
            Finding::info(ID, format!("other kernel debuggers run: {}", others.join(", ")))
                .why("they are in the way where they hold the same pipe or port, or debug this machine"),
        );
    }
    if findings.is_empty() {
        findings.push(Finding::ok(ID, "no program of another kernel debugger runs"));
    }
    findings
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
