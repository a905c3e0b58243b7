use super::*;
use crate::assembler;
use crate::machine::paging::{NO_EXECUTE, TableBuilder, USER, WRITABLE};
use crate::machine::registers::selector;

const CODE: u64 = 0xffff_f800_0000_1000;
const DATA: u64 = 0xffff_f800_0000_4000;

/// A core with one page of code, two of data and a stack at the end of the data.
struct Bench {
    memory: PhysicalMemory,
    core: Core,
}

impl Bench {
    fn new(code: &str) -> Self {
        let mut memory = PhysicalMemory::new(&[(0x1000, 0x100_0000)]);
        let mut tables = TableBuilder::new(0x1_0000);
        let cr3 = tables.address_space(&mut memory, None);
        tables.map(&mut memory, cr3, CODE, 0x2000, 0);
        tables.map_fresh(&mut memory, cr3, DATA, 2, WRITABLE | NO_EXECUTE);
        tables.map(&mut memory, cr3, 0x5000, 0x3000, USER);
        let bytes = assembler::assemble(code, CODE, &|_| None)
            .unwrap_or_else(|error| panic!("{error}"))
            .bytes;
        memory.write(0x2000, &bytes);
        let mut core = Core::default();
        core.registers.rip = CODE;
        core.registers.rflags = flag::FIXED;
        core.registers.cr[3] = cr3;
        core.registers.selectors[selector::CS] = 0x10;
        core.registers.gpr[gpr::RSP] = DATA + 0x2000;
        Self { memory, core }
    }

    fn step(&mut self) -> Result<Outcome, Fault> {
        let ins = fetch(&self.memory, &self.core.registers)?;
        execute(&mut self.memory, &mut self.core, ins)
    }

    /// Runs to the `hlt` at the end.
    fn run(mut self) -> Self {
        for _ in 0..10_000 {
            match self.step() {
                Ok(Outcome::Continue) => {}
                Ok(Outcome::Halt) => return self,
                Err(fault) => panic!("{fault}"),
            }
        }
        panic!("no hlt");
    }
}

/// Runs `code` with RAX, RBX and RCX, and gives the core.
fn after(code: &str, rax: u64, rbx: u64, rcx: u64) -> Core {
    let mut bench = Bench::new(&format!("{code}\nhlt"));
    bench.core.registers.gpr[gpr::RAX] = rax;
    bench.core.registers.gpr[gpr::RBX] = rbx;
    bench.core.registers.gpr[gpr::RCX] = rcx;
    bench.run().core
}

fn flags(core: &Core) -> String {
    let names = [
        ('o', flag::OF),
        ('s', flag::SF),
        ('z', flag::ZF),
        ('a', flag::AF),
        ('p', flag::PF),
        ('c', flag::CF),
    ];
    names
        .iter()
        .filter(|(_, mask)| core.registers.flag(*mask))
        .map(|(name, _)| *name)
        .collect()
}

/// Code, RAX, RBX, RCX, then the RAX and the flags that hardware gives.
#[rustfmt::skip]
const ARITHMETIC: &[(&str, u64, u64, u64, u64, &str)] = &[
    ("add rax, rbx", 1, 2, 0, 3, "p"),
    ("add eax, ebx", 0xffff_ffff_ffff_ffff, 1, 0, 0, "zapc"),
    ("add al, bl", 0x7f, 1, 0, 0x80, "osa"),
    ("add rax, rbx", 0x7fff_ffff_ffff_ffff, 1, 0, 0x8000_0000_0000_0000, "osap"),
    ("stc\nadc ax, bx", 0x1_ffff, 0, 0, 0x1_0000, "zapc"),
    ("sub rax, rbx", 1, 2, 0, 0xffff_ffff_ffff_ffff, "sapc"),
    ("sub al, bl", 0x80, 1, 0, 0x7f, "oa"),
    ("stc\nsbb eax, ebx", 5, 4, 0, 0, "zp"),
    ("cmp rax, rbx", 5, 5, 0, 5, "zp"),
    ("neg rax", 1, 0, 0, 0xffff_ffff_ffff_ffff, "sapc"),
    ("neg eax", 0x8000_0000, 0, 0, 0x8000_0000, "ospc"),
    ("stc\ninc al", 0xff, 0, 0, 0, "zapc"),
    ("dec eax", 0x1_0000_0000, 0, 0, 0xffff_ffff, "sap"),
    ("and eax, ebx", 0xff00_00ff_ffff_00f0, 0x0f0, 0, 0xf0, "p"),
    ("xor eax, eax", 0x123, 0, 0, 0, "zp"),
    ("or al, bl", 0x80, 1, 0, 0x81, "sp"),
    ("test al, bl", 0x10, 0x0f, 0, 0x10, "zp"),
    ("shl eax, 1", 0x8000_0001, 0, 0, 2, "oc"),
    ("shl rax, cl", 1, 0, 63, 0x8000_0000_0000_0000, "sp"),
    ("shr eax, 4", 0x18, 0, 0, 1, "c"),
    ("sar al, 1", 0x81, 0, 0, 0xc0, "spc"),
    ("rol al, 4", 0x12, 0, 0, 0x21, "c"),
    ("ror eax, 8", 0x1122_3344, 0, 0, 0x4411_2233, ""),
    ("imul rax, rbx", 3, 0xffff_ffff_ffff_fffe, 0, 0xffff_ffff_ffff_fffa, ""),
    ("mul rbx", 0x8000_0000_0000_0000, 2, 0, 0, "oc"),
    ("bt rax, 3\nsetb al", 8, 0, 0, 1, "c"),
    ("bts rax, 0", 2, 0, 0, 3, ""),
    ("bsf rax, rbx", 0, 0x50, 0, 4, ""),
    ("bsr rax, rbx", 0, 0x50, 0, 6, ""),
    ("bswap eax", 0x1122_3344, 0, 0, 0x4433_2211, ""),
    ("popcnt rax, rbx", 0, 0xff0, 0, 8, ""),
    ("movzx eax, bl", 0, 0x1ff, 0, 0xff, ""),
    ("movsx rax, bl", 0, 0x80, 0, 0xffff_ffff_ffff_ff80, ""),
    ("movsxd rax, ebx", 0, 0x8000_0000, 0, 0xffff_ffff_8000_0000, ""),
    ("mov ah, bl", 0x1122, 0x33, 0, 0x3322, ""),
    ("xchg rax, rbx", 1, 2, 0, 2, ""),
    ("xadd rax, rbx\nmov rax, rbx", 1, 2, 0, 1, "p"),
    ("cmpxchg rbx, rcx\nmov rax, rbx", 5, 5, 9, 9, "zp"),
    ("cdqe", 0x8000_0000, 0, 0, 0xffff_ffff_8000_0000, ""),
    ("lea rax, [rbx+rcx*4-2]", 0, 0x10, 3, 0x1a, ""),
    ("cmp rbx, rcx\ncmova rax, rbx", 0, 7, 3, 7, ""),
    ("cmp rbx, rcx\ncmovb eax, ebx", 0xffff_ffff_0000_0001, 7, 3, 1, ""),
];

#[test]
fn arithmetic_gives_the_values_and_flags_of_the_hardware() {
    for &(code, rax, rbx, rcx, value, wanted) in ARITHMETIC {
        let core = after(code, rax, rbx, rcx);
        assert_eq!(
            core.registers.gpr[gpr::RAX],
            value,
            "{code}: value {:x}",
            core.registers.gpr[gpr::RAX]
        );
        // Multiplications leave all flags but two undefined; a rotation leaves all but two alone.
        let known = !code.contains("mul") && !code.starts_with("ro") && !code.starts_with("bs");
        if known && !code.contains("cmov") {
            assert_eq!(flags(&core), wanted, "{code}");
        }
    }
}

#[test]
fn a_32_bit_result_clears_the_upper_half_and_smaller_ones_keep_it() {
    assert_eq!(after("mov eax, 1", u64::MAX, 0, 0).registers.gpr[0], 1);
    assert_eq!(
        after("mov ax, 1", u64::MAX, 0, 0).registers.gpr[0],
        0xffff_ffff_ffff_0001
    );
    assert_eq!(
        after("mov al, 1", u64::MAX, 0, 0).registers.gpr[0],
        0xffff_ffff_ffff_ff01
    );
}

#[test]
fn division_gives_quotient_and_remainder_and_faults_on_zero() {
    let core = after("xor edx, edx\ndiv rbx", 17, 5, 0);
    assert_eq!(
        (core.registers.gpr[gpr::RAX], core.registers.gpr[gpr::RDX]),
        (3, 2)
    );
    let core = after("cqo\nidiv rbx", 17_u64.wrapping_neg(), 5, 0);
    assert_eq!(core.registers.gpr[gpr::RAX], 3_u64.wrapping_neg());
    assert_eq!(core.registers.gpr[gpr::RDX], 2_u64.wrapping_neg());
    let mut bench = Bench::new("div rbx");
    bench.core.registers.gpr[gpr::RAX] = 1;
    assert_eq!(bench.step(), Err(Fault::Divide));
    assert_eq!(bench.core.registers.rip, CODE, "a fault leaves the registers");
    let mut bench = Bench::new("div bl");
    bench.core.registers.gpr[gpr::RAX] = 0x1000;
    bench.core.registers.gpr[gpr::RBX] = 1;
    assert_eq!(bench.step(), Err(Fault::Divide), "the quotient does not fit");
}

#[test]
fn calls_and_the_stack_work() {
    let bench = Bench::new("call inner\nhlt\ninner: push 5\npop rax\npushfq\npop rbx\nret").run();
    assert_eq!(bench.core.registers.gpr[gpr::RAX], 5);
    assert_eq!(bench.core.registers.gpr[gpr::RBX], flag::FIXED);
    assert_eq!(bench.core.registers.gpr[gpr::RSP], DATA + 0x2000);
    let bench = Bench::new("push rbp\nmov rbp, rsp\nsub rsp, 0x40\nleave\nhlt").run();
    assert_eq!(bench.core.registers.gpr[gpr::RSP], DATA + 0x2000);
}

#[test]
fn loops_run_to_their_end() {
    let core = after("xor eax, eax\nagain: add rax, rcx\nloop again", 0, 0, 10);
    assert_eq!(core.registers.gpr[gpr::RAX], 55);
    let core = after("jrcxz skip\nmov eax, 1\nskip: nop", 7, 0, 0);
    assert_eq!(core.registers.gpr[gpr::RAX], 7);
}

#[test]
fn string_instructions_move_fill_scan_and_compare() {
    let code = format!(
        "mov rdi, 0x{DATA:x}\nmov rcx, 0x1800\nmov al, 0x41\nrep stosb\nmov byte ptr [rdi], 0\n\
         mov rdi, 0x{DATA:x}\nmov rcx, -1\nxor eax, eax\nrepne scasb\nhlt"
    );
    let bench = Bench::new(&code).run();
    assert_eq!(
        !bench.core.registers.gpr[gpr::RCX],
        0x1801,
        "the length with its NUL"
    );
    let code = format!(
        "mov rsi, 0x{CODE:x}\nmov rdi, 0x{DATA:x}\nmov ecx, 8\nrep movsb\nsub rsi, 8\nsub rdi, 8\nmov ecx, 8\nrepe cmpsb\nhlt"
    );
    let bench = Bench::new(&code).run();
    assert_eq!(flags(&bench.core), "zp", "the copy is equal");
}

#[test]
fn protections_are_kept() {
    let fault = |code: &str, user: bool| {
        let mut bench = Bench::new(code);
        if user {
            bench.core.registers.selectors[selector::CS] = 0x33;
        }
        loop {
            if let Err(fault) = bench.step() {
                return fault;
            }
        }
    };
    let page = |address, code| Fault::Page { address, code };
    assert_eq!(
        fault(&format!("mov rax, 0x{CODE:x}\nmov [rax], al"), false),
        page(CODE, 3),
        "code is read-only"
    );
    assert_eq!(fault("mov eax, 0x10\nmov al, [rax]", false), page(0x10, 0));
    assert_eq!(
        fault(&format!("mov rax, 0x{DATA:x}\njmp rax"), false),
        page(DATA, 17),
        "data is no code"
    );
    assert_eq!(
        fault("nop", true),
        page(CODE, 21),
        "kernel code is closed to user mode"
    );
}

#[test]
fn privileged_instructions_fault_in_user_mode() {
    for code in ["hlt", "cli", "mov rax, cr3", "rdmsr", "swapgs"] {
        let mut bench = Bench::new("nop");
        let bytes = assembler::assemble(code, 0x5000, &|_| None).expect("code").bytes;
        bench.memory.write(0x3000, &bytes);
        bench.core.registers.rip = 0x5000;
        bench.core.registers.selectors[selector::CS] = 0x33;
        assert_eq!(bench.step(), Err(Fault::Protection), "{code}");
    }
}

#[test]
fn unknown_instructions_are_named_and_bad_bytes_are_invalid() {
    let mut bench = Bench::new("nop");
    bench.memory.write(0x2000, &[0x0f, 0x58, 0xc1]);
    assert_eq!(bench.step(), Err(Fault::Unsupported("addps xmm0,xmm1".into())));
    bench.memory.write(0x2000, &[0x06]);
    assert_eq!(bench.step(), Err(Fault::InvalidOpcode));
    bench.memory.write(0x2000, &[0xcc]);
    assert_eq!(bench.step(), Err(Fault::Breakpoint));
}

#[test]
fn time_stamps_count_instructions() {
    let core = after("rdtsc\nmov rbx, rax\nnop\nnop\nrdtsc\nsub rax, rbx", 0, 0, 0);
    assert_eq!(core.registers.gpr[gpr::RAX], 12);
}

#[test]
fn an_msr_that_does_not_exist_is_a_protection_fault() {
    let mut bench = Bench::new("mov ecx, 0x1234\nrdmsr");
    bench.step().expect("mov");
    assert_eq!(bench.step(), Err(Fault::Protection));
}
