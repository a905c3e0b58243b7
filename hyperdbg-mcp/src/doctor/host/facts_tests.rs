use super::super::super::Level;
use super::*;

/// A machine on which everything is as HyperDbg wants it.
fn ready() -> Facts {
    Facts {
        wine: false,
        administrator: Ok(true),
        code_integrity: Ok(0),
        isolated: Ok((false, false)),
        memory_integrity_configured: Ok(false),
        kernel_debugger: Ok((false, false)),
        start_options: Ok(" NOEXECUTE=OPTIN".to_owned()),
        boot_entry: Ok(BTreeMap::new()),
        processor: Ok(Processor {
            vendor: "GenuineIntel".to_owned(),
            vmx: true,
            hypervisor: None,
            second_level_translation: true,
            firmware_allows: true,
        }),
        driver: Ok(None),
        running: Ok(BTreeSet::from(["explorer.exe".to_owned()])),
    }
}

fn processor_of(change: impl FnOnce(&mut Processor)) -> Facts {
    let mut facts = ready();
    if let Ok(processor) = &mut facts.processor {
        change(processor);
    }
    facts
}

#[track_caller]
fn finding(facts: &Facts, id: &str) -> Finding {
    judge(facts)
        .into_iter()
        .find(|finding| finding.id == id)
        .unwrap_or_else(|| panic!("no finding {id}"))
}

#[track_caller]
fn assert_level(facts: &Facts, id: &str, level: Level, part: &str) {
    let finding = finding(facts, id);
    assert_eq!(finding.level, level, "{finding:?}");
    assert!(finding.what.contains(part), "{finding:?}");
}

#[test]
fn a_machine_that_is_ready_gives_no_warning() {
    for finding in judge(&ready()) {
        assert!(finding.level <= Level::Info, "{finding:?}");
    }
}

#[test]
fn what_cannot_be_asked_is_unknown_with_its_reason() {
    let why = || Err("the reason".to_owned());
    let facts = Facts {
        wine: true,
        administrator: why(),
        code_integrity: Err("the reason".to_owned()),
        isolated: Err("the reason".to_owned()),
        memory_integrity_configured: why(),
        kernel_debugger: Err("the reason".to_owned()),
        start_options: Err("the reason".to_owned()),
        boot_entry: Err("the reason".to_owned()),
        processor: Err("the reason".to_owned()),
        driver: Err("the reason".to_owned()),
        running: Err("the reason".to_owned()),
    };
    let findings = judge(&facts);
    assert_eq!(findings.len(), 9);
    for finding in findings.iter().filter(|finding| finding.id != "host.system") {
        assert_eq!(finding.level, Level::Info, "{finding:?}");
        assert!(finding.what.starts_with("unknown: "), "{finding:?}");
        assert_eq!(finding.why.as_deref(), Some("the reason"));
    }
}

#[test]
fn a_machine_that_is_not_ready_says_what_to_do() {
    let facts = Facts {
        administrator: Ok(false),
        code_integrity: Ok(ENFORCED),
        isolated: Ok((true, true)),
        kernel_debugger: Ok((true, false)),
        driver: Ok(Some(4)),
        ..processor_of(|processor| {
            processor.vmx = false;
            processor.hypervisor = Some("HyperV".to_owned());
        })
    };
    let warnings: Vec<Finding> = judge(&facts)
        .into_iter()
        .filter(|finding| finding.level == Level::Warning)
        .collect();
    let ids: Vec<&str> = warnings.iter().map(|finding| finding.id).collect();
    assert_eq!(
        ids,
        [
            "host.administrator",
            "host.driver_signing",
            "host.virtualization_based_security",
            "host.hypervisor",
            "host.vt_x",
            "driver.service"
        ]
    );
    assert!(warnings.iter().all(|finding| finding.what_to_do.is_some()));
}

#[test]
fn test_signing_alone_does_not_load_unsigned_drivers() {
    let id = "host.driver_signing";
    let with = |options, debugger| Facts {
        code_integrity: Ok(options),
        kernel_debugger: Ok(debugger),
        ..ready()
    };
    let none = (false, false);
    assert_level(&with(0, none), id, Level::Ok, "not enforced");
    assert_level(&with(ENFORCED, none), id, Level::Warning, "are enforced");
    assert_level(
        &with(ENFORCED | TEST_SIGNING, none),
        id,
        Level::Warning,
        "test-signing",
    );
    assert_level(&with(ENFORCED, (true, true)), id, Level::Info, "attached");
}

#[test]
fn memory_integrity_is_seen_running_and_configured() {
    let id = "host.virtualization_based_security";
    let running = Facts {
        isolated: Ok((true, false)),
        ..ready()
    };
    assert_level(&running, id, Level::Warning, "security runs");
    let by_options = Facts {
        isolated: Err("older Windows".to_owned()),
        code_integrity: Ok(ENFORCED | BY_HYPERVISOR),
        ..ready()
    };
    assert_level(&by_options, id, Level::Warning, "HVCI");
    let next_time = Facts {
        memory_integrity_configured: Ok(true),
        ..ready()
    };
    assert_level(&next_time, id, Level::Warning, "next start");
}

#[test]
fn vt_x_is_told_apart_from_what_hides_it() {
    let id = "host.vt_x";
    assert_level(
        &processor_of(|cpu| cpu.vmx = false),
        id,
        Level::Warning,
        "has no VT-x",
    );
    assert_level(
        &processor_of(|cpu| cpu.firmware_allows = false),
        id,
        Level::Warning,
        "firmware",
    );
    let amd = processor_of(|cpu| cpu.vendor = "AuthenticAMD".to_owned());
    assert_level(&amd, id, Level::Warning, "AuthenticAMD");
    let nested = processor_of(|cpu| {
        cpu.hypervisor = Some("KVM".to_owned());
        cpu.firmware_allows = false;
        cpu.second_level_translation = false;
    });
    assert_level(&nested, id, Level::Ok, "has VT-x");
    assert_level(&nested, "host.ept", Level::Info, "unknown");
    let plain = processor_of(|cpu| cpu.second_level_translation = false);
    assert_level(&plain, "host.ept", Level::Warning, "no EPT");
}

#[test]
fn the_drivers_service_is_told_by_its_state() {
    for (state, level, part) in [
        (None, Level::Info, "not installed"),
        (Some(1), Level::Info, "stopped"),
        (Some(4), Level::Warning, "running"),
        (Some(3), Level::Warning, "state 3"),
    ] {
        let facts = Facts {
            driver: Ok(state),
            ..ready()
        };
        assert_level(&facts, "driver.service", level, part);
    }
}

#[test]
fn another_kernel_debugger_is_seen() {
    let attached = Facts {
        kernel_debugger: Ok((true, true)),
        ..ready()
    };
    assert_level(&attached, "host.kernel_debugger", Level::Warning, "attached");
    let asked = Facts {
        kernel_debugger: Err("no".to_owned()),
        start_options: Ok(" DEBUG=1 TESTSIGNING".to_owned()),
        ..ready()
    };
    assert_level(&asked, "host.kernel_debugger", Level::Info, "started with DEBUG");
}

#[test]
fn options_of_the_boot_entry_are_read_in_any_language() {
    let printed = "\r\nWindows-Startladeprogramm\r\n-------------------------\r\nBezeichner              {current}\r\n\
                   testsigning             Ja\r\ndebug                   Nein\r\npath                    \\Windows\r\n";
    let options = parse_boot_entry(printed);
    let pairs: Vec<_> = options
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(pairs, [("debug", "Nein"), ("testsigning", "Ja")]);
    let facts = Facts {
        boot_entry: Ok(options),
        ..ready()
    };
    assert_level(
        &facts,
        "host.boot_entry",
        Level::Info,
        "debug Nein, testsigning Ja",
    );
}

#[test]
fn another_hyperdbg_is_a_warning_and_other_debuggers_are_told() {
    let running = |names: &[&str]| Facts {
        running: Ok(names.iter().map(|name| (*name).to_owned()).collect()),
        ..ready()
    };
    assert_level(&ready(), "host.debuggers", Level::Ok, "no program");
    assert_level(
        &running(&["hyperdbg-cli.exe", "windbg.exe"]),
        "host.debuggers",
        Level::Warning,
        "hyperdbg-cli.exe",
    );
    assert_level(
        &running(&["windbg.exe"]),
        "host.debuggers",
        Level::Info,
        "windbg.exe",
    );
}
