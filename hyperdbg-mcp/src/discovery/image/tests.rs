use super::sample::Sample;
use super::*;

const PE: Loader = Loader {
    format: Format::Pe,
    machine: Machine::X64,
};
const ELF: Loader = Loader {
    format: Format::Elf,
    machine: Machine::X64,
};

fn sample(format: Format) -> Sample<'static> {
    Sample {
        needs: &["script-engine.dll", "KERNEL32.dll"],
        version: Some([0, 23, 1, 7]),
        ..Sample::new(
            format,
            &["hyperdbg_u_run_command", "unrelated", "hwdbg_script_run_script"],
        )
    }
}

fn exported(image: &Image) -> Vec<&str> {
    image.exports.iter().map(String::as_str).collect()
}

#[test]
fn a_windows_library_tells_its_exports_needs_version_and_signature() {
    let mut sample = sample(Format::Pe);
    let image = Image::parse(&sample.pe(), PE).unwrap();
    assert_eq!(
        exported(&image),
        ["hwdbg_script_run_script", "hyperdbg_u_run_command"]
    );
    assert_eq!(image.dependencies, ["script-engine.dll", "KERNEL32.dll"]);
    assert_eq!(image.file_version.as_deref(), Some("0.23.1.7"));
    assert_eq!(image.signature, Signature::Absent);

    sample.signed = true;
    sample.version = None;
    let image = Image::parse(&sample.pe(), PE).unwrap();
    assert_eq!(image.file_version, None);
    assert_eq!(image.signature, Signature::PresentNotVerified { size_bytes: 16 });
}

#[test]
fn a_certificate_table_outside_of_the_file_is_no_signature() {
    let mut sample = sample(Format::Pe);
    sample.signed = true;
    let mut file = sample.pe();
    file.truncate(file.len() - 16);
    assert_eq!(Image::parse(&file, PE).unwrap().signature, Signature::Damaged);
}

#[test]
fn a_linux_library_tells_its_exports_and_needs() {
    let image = Image::parse(&sample(Format::Elf).elf(), ELF).unwrap();
    assert_eq!(
        exported(&image),
        ["hwdbg_script_run_script", "hyperdbg_u_run_command"]
    );
    assert_eq!(image.dependencies, ["script-engine.dll", "KERNEL32.dll"]);
    assert_eq!(image.signature, Signature::NotInThisFormat);
}

#[test]
fn a_library_of_another_machine_is_named_as_such() {
    for (machine, expected) in [
        (0x014c, Machine::X86),
        (0xaa64, Machine::Arm64),
        (0x01c4, Machine::Arm),
        (0x0200, Machine::Other(0x200)),
    ] {
        let sample = Sample {
            machine,
            ..sample(Format::Pe)
        };
        assert_eq!(
            Image::parse(&sample.pe(), PE),
            Err(Unfit::OtherMachine {
                found: expected,
                wanted: Machine::X64
            })
        );
    }
    for (machine, expected) in [(3, Machine::X86), (183, Machine::Arm64), (40, Machine::Arm)] {
        let sample = Sample {
            machine,
            ..sample(Format::Elf)
        };
        assert_eq!(
            Image::parse(&sample.elf(), ELF),
            Err(Unfit::OtherMachine {
                found: expected,
                wanted: Machine::X64
            })
        );
    }
}

#[test]
fn a_library_of_another_system_is_named_as_such() {
    let elf = sample(Format::Elf).elf();
    assert!(matches!(
        Image::parse(&elf, PE),
        Err(Unfit::OtherFormat {
            found: Format::Elf,
            ..
        })
    ));
    let pe = sample(Format::Pe).pe();
    assert!(matches!(
        Image::parse(&pe, ELF),
        Err(Unfit::OtherFormat {
            found: Format::Pe,
            ..
        })
    ));
}

#[test]
fn programs_and_drivers_are_no_libraries() {
    let mut program = sample(Format::Pe).pe();
    program[64 + 4 + 18 + 1] &= !0x20;
    assert_eq!(
        Image::parse(&program, PE),
        Err(Unfit::NotShared { what: "a program" })
    );
    let mut driver = sample(Format::Pe).pe();
    driver[64 + 24 + 68] = 1;
    assert!(
        matches!(Image::parse(&driver, PE), Err(Unfit::NotShared { what }) if what.contains("kernel-mode"))
    );
    if Loader::THIS.machine == Machine::X64 {
        assert_eq!(check_driver(&driver), Ok(()));
        assert_eq!(check_driver(&sample(Format::Pe).pe()), Err(Unfit::NotADriver));
        assert!(matches!(
            check_driver(&sample(Format::Elf).elf()),
            Err(Unfit::OtherFormat { .. })
        ));
        assert_eq!(check_driver(b""), Err(Unfit::Empty));
    }
    let mut program = sample(Format::Elf).elf();
    program[16] = 2;
    assert_eq!(
        Image::parse(&program, ELF),
        Err(Unfit::NotShared { what: "a program" })
    );
}

#[test]
fn files_that_are_no_images_are_described() {
    for (data, looks) in [
        (&b"#!/bin/sh\necho hello\n"[..], "a text file"),
        ("Grüße, ».dll«\r\n".as_bytes(), "a text file"),
        (
            b"L\x01text that begins like an object file",
            "an unknown kind of file",
        ),
        (b"PK\x03\x04....", "a ZIP archive: unpack it first"),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "a Git LFS pointer: the real file was not fetched",
        ),
        (b"\x7fELF", "a damaged Linux (ELF) file"),
        (b"MZ", "a damaged or 16-bit Windows file"),
    ] {
        for loader in [PE, ELF] {
            assert_eq!(Image::parse(data, loader), Err(Unfit::NotAnImage { looks }));
        }
    }
    assert_eq!(Image::parse(b"", PE), Err(Unfit::Empty));
}

#[test]
fn truncated_and_damaged_images_are_refused_without_a_crash() {
    for (file, loader) in [(sample(Format::Pe).pe(), PE), (sample(Format::Elf).elf(), ELF)] {
        for length in 0..file.len() {
            let _ = Image::parse(&file[..length], loader);
        }
        // Every byte, set to extreme values.
        for index in 0..file.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[index] = value;
                let _ = Image::parse(&damaged, loader);
            }
        }
    }
    let mut wild = sample(Format::Pe).pe();
    // The number of exported names, in the directory at the start of the section.
    wild[0x400 + 24..0x400 + 28].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(Image::parse(&wild, PE), Err(Unfit::Damaged { .. })));
}

#[test]
fn a_table_of_names_that_is_too_large_ends_early() {
    let mut names = Names::new();
    let name = vec![b'x'; 1 << 20];
    let taken = (0..100).take_while(|_| names.take(&name).is_ok()).count();
    assert_eq!(taken, 32);
}
