use super::*;
use crate::machine::registers::gpr;

fn value(machine: &Machine, name: &str) -> u64 {
    let address = machine
        .symbols
        .find(name)
        .unwrap_or_else(|| panic!("{name}"))
        .address;
    machine
        .kernel_u64(address)
        .unwrap_or_else(|| panic!("{name} is not mapped"))
}

/// Wakes the cores and lets them run until they wait again.
fn tick(machine: &mut Machine) {
    for core in 0..machine.scheduled() {
        machine.clock(core).expect("clock");
    }
    machine.run_until_idle(100_000);
}

#[test]
fn the_machine_boots_and_both_cores_wait_in_the_idle_loop() {
    let machine = boot().unwrap_or_else(|error| panic!("{error}"));
    for core in &machine.cores {
        assert!(core.halted);
        let (symbol, _) = machine.symbols.nearest(core.registers.rip).expect("symbol");
        assert_eq!(symbol.name, "nt!KiIdleLoop");
    }
}

#[test]
fn every_tick_lets_every_program_make_system_calls() {
    let mut machine = boot().expect("boot");
    for _ in 0..8 {
        tick(&mut machine);
        for core in &machine.cores[..machine.scheduled()] {
            let registers = &core.registers;
            assert!(core.halted, "stuck at {:x}", registers.rip);
        }
    }
    assert!(value(&machine, "nt!KeTickCount") >= 8);
    assert!(
        value(&machine, "nt!IoCreateCount") >= 18,
        "three programs, eight ticks"
    );
    assert!(value(&machine, "Ntfs!NtfsCreateCount") >= 18);
    assert!(value(&machine, "simdemo!DemoCounter") >= 7);
    let notepad = machine.process(0x1a2c).expect("notepad");
    let buffer = machine.symbols.find("notepad!Buffer").expect("buffer").address;
    let mut text = [0; 9];
    assert_eq!(machine.read_virtual(notepad.cr3, buffer, &mut text), 9);
    assert_eq!(&text, b"The quick");
}

#[test]
fn the_same_steps_give_the_same_machine() {
    let (mut left, mut right) = (boot().expect("boot"), boot().expect("boot"));
    for _ in 0..5 {
        tick(&mut left);
        tick(&mut right);
    }
    for (left, right) in left.cores.iter().zip(&right.cores) {
        assert_eq!(left.registers, right.registers);
    }
    assert_eq!(
        value(&left, "simdemo!DemoLastResult"),
        value(&right, "simdemo!DemoLastResult")
    );
}

#[test]
fn reads_stop_at_a_hole_and_writes_do_nothing_there() {
    let mut machine = boot().expect("boot");
    let base = machine.kernel_base();
    let mut out = vec![0; 0x2000];
    assert_eq!(machine.read_virtual(machine.kernel_cr3, base, &mut out), 0x1000);
    assert_eq!(&out[..2], b"MZ");
    assert!(!machine.write_virtual(machine.kernel_cr3, base + 0xffe, &[1, 2, 3, 4]));
    machine.read_virtual(machine.kernel_cr3, base + 0xffe, &mut out[..2]);
    assert_eq!(&out[..2], &[0, 0]);
}

#[test]
fn processes_have_address_spaces_of_their_own() {
    let machine = boot().expect("boot");
    let (explorer, notepad) = (
        machine.process(0x11b8).expect("explorer"),
        machine.process(0x1a2c).expect("notepad"),
    );
    let mut out = [0; 2];
    assert_eq!(machine.read_virtual(explorer.cr3, 0x7ff6_a1b0_0000, &mut out), 2);
    assert_eq!(machine.read_virtual(notepad.cr3, 0x7ff6_a1b0_0000, &mut out), 0);
    assert_eq!(
        machine.read_virtual(notepad.cr3, machine.kernel_base(), &mut out),
        2,
        "the kernel is shared"
    );
}

#[test]
fn a_bad_pointer_in_user_mode_is_a_page_fault_with_its_address() {
    let mut machine = boot().expect("boot");
    let core = &mut machine.cores[0];
    core.halted = false;
    core.registers.rip = machine.symbols.find("nt!strlen").expect("strlen").address;
    core.registers.gpr[gpr::RCX] = 0x10;
    machine.step(0).expect("xor");
    let fault = machine.step(0).expect_err("reads address 0x10");
    assert_eq!(
        fault,
        Fault::Page {
            address: 0x10,
            code: 0
        }
    );
    assert_eq!(machine.cores[0].registers.cr[2], 0x10);
}
