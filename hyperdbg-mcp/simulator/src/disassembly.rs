//! Instructions as text, in the debugger's own layout.

use crate::machine::interpreter::condition;
use crate::machine::{Symbol, Symbols};
use iced_x86::{
    CC_a, CC_ae, CC_b, CC_be, CC_e, CC_g, CC_ge, CC_le, CC_ne, Decoder, DecoderOptions, Formatter,
    FormatterOptions, GasFormatter, IntelFormatter, MasmFormatter, MemorySizeOptions, SymbolResolver,
    SymbolResult,
};

/// Byte columns before the text.
const BYTE_COLUMNS: usize = 12;

/// Assembly syntax, numbered as the `settings syntax` command does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// Intel.
    #[default]
    Intel,
    /// AT&T.
    Att,
    /// MASM.
    Masm,
}

/// A 64-bit value as two groups of eight digits with a back-tick between.
#[must_use]
pub fn separated(value: u64) -> String {
    format!("{:08x}`{:08x}", value >> 32, value & 0xffff_ffff)
}

/// How to print instructions.
pub struct Style<'a> {
    /// Syntax.
    pub syntax: Syntax,
    /// Names for addresses; `None` when the address conversion is off or no symbols are loaded.
    pub symbols: Option<&'a Symbols>,
    /// 64 or 32.
    pub bitness: u32,
}

/// Messages that show `bytes` at `address`: the pieces the real library sends, one per element.
///
/// `limit` is the number of instructions, `rflags` makes conditional jumps say whether they are taken.
#[must_use]
pub fn messages(
    style: &Style<'_>,
    bytes: &[u8],
    address: u64,
    limit: usize,
    rflags: Option<u64>,
) -> Vec<String> {
    let mut out = Vec::new();
    let mut decoder = Decoder::with_ip(style.bitness, bytes, address, DecoderOptions::NONE);
    let mut last_base = None;
    let mut count = 0;
    while decoder.can_decode() && count < limit {
        let start = decoder.position();
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            break;
        }
        if let Some((symbol, distance)) = style
            .symbols
            .and_then(|symbols| nearby(symbols, instruction.ip()))
            && last_base != Some(symbol.address)
        {
            last_base = Some(symbol.address);
            out.push(name_with_offset(symbol, distance));
            out.push(":\n".to_owned());
        }
        out.push(format!("{}   ", separated(instruction.ip())));
        let raw = &bytes[start..start + instruction.len()];
        out.extend(raw.iter().map(|byte| format!(" {byte:02X}")));
        out.extend((raw.len()..BYTE_COLUMNS).map(|_| "   ".to_owned()));
        let text = instruction_text(style, &instruction);
        let taken = match rflags {
            Some(rflags) if instruction.is_jcc_short_or_near() => {
                if condition(instruction.condition_code(), rflags) {
                    " [taken]"
                } else {
                    " [not taken]"
                }
            }
            _ => "",
        };
        out.push(format!(" {text}{taken}\n"));
        count += 1;
    }
    out
}

fn nearby(symbols: &Symbols, address: u64) -> Option<(&Symbol, u64)> {
    symbols
        .nearest(address)
        .filter(|(symbol, distance)| symbol.is_code || *distance == 0)
}

/// `module!name` with what lies between, as in `nt!NtClose+0x5`; past the end of the symbol the
/// distance from its end follows.
#[must_use]
pub fn name_with_offset(symbol: &Symbol, distance: u64) -> String {
    if distance == 0 {
        symbol.name.clone()
    } else if distance <= symbol.size {
        format!("{}+0x{distance:x}", symbol.name)
    } else {
        format!("{}+0x{distance:x}+0x{:x}", symbol.name, distance - symbol.size)
    }
}

fn instruction_text(style: &Style<'_>, instruction: &iced_x86::Instruction) -> String {
    let mut text = String::new();
    let names = Box::new(operand_names(style.symbols, instruction));
    let resolver = Some(names as Box<dyn SymbolResolver>);
    match style.syntax {
        Syntax::Intel => {
            let mut formatter = IntelFormatter::with_options(resolver, None);
            configure(formatter.options_mut(), instruction);
            formatter.format(instruction, &mut text);
        }
        Syntax::Att => {
            let mut formatter = GasFormatter::with_options(resolver, None);
            configure(formatter.options_mut(), instruction);
            formatter.format(instruction, &mut text);
        }
        Syntax::Masm => {
            let mut formatter = MasmFormatter::with_options(resolver, None);
            configure(formatter.options_mut(), instruction);
            formatter.format(instruction, &mut text);
        }
    }
    text
}

/// The names of the addresses that an instruction mentions.
struct Names(Vec<(u64, String)>);

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        _: &iced_x86::Instruction,
        _: u32,
        _: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        let (_, name) = self.0.iter().find(|(known, _)| *known == address)?;
        Some(SymbolResult::with_str(address, name))
    }
}

fn operand_names(symbols: Option<&Symbols>, instruction: &iced_x86::Instruction) -> Names {
    let mut found = Vec::new();
    let candidates = [
        instruction
            .is_ip_rel_memory_operand()
            .then(|| instruction.ip_rel_memory_address()),
        (instruction.near_branch_target() != 0).then(|| instruction.near_branch_target()),
    ];
    for address in candidates.into_iter().flatten() {
        if let Some(symbol) = symbols.and_then(|symbols| symbols.at(address)) {
            found.push((address, format!("<{} ({})>", symbol.name, separated(address))));
        }
    }
    Names(found)
}

fn configure(options: &mut FormatterOptions, instruction: &iced_x86::Instruction) {
    options.set_uppercase_hex(true);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_small_hex_numbers_in_decimal(false);
    options.set_space_after_operand_separator(true);
    // An address that is only computed has no segment.
    options.set_always_show_segment_register(instruction.mnemonic() != iced_x86::Mnemonic::Lea);
    options.set_memory_size_options(MemorySizeOptions::Always);
    options.set_rip_relative_addresses(false);
    options.set_show_symbol_address(false);
    options.set_signed_immediate_operands(false);
    options.set_branch_leading_zeros(true);
    options.set_show_branch_size(false);
    options.set_cc_b(CC_b::b);
    options.set_cc_ae(CC_ae::nb);
    options.set_cc_e(CC_e::z);
    options.set_cc_ne(CC_ne::nz);
    options.set_cc_be(CC_be::be);
    options.set_cc_a(CC_a::nbe);
    options.set_cc_ge(CC_ge::nl);
    options.set_cc_le(CC_le::le);
    options.set_cc_g(CC_g::nle);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(bytes: &[u8], rflags: Option<u64>) -> String {
        let style = Style {
            syntax: Syntax::Intel,
            symbols: None,
            bitness: 64,
        };
        messages(&style, bytes, 0xffff_f800_0000_2000, usize::MAX, rflags).concat()
    }

    #[test]
    fn a_line_is_address_padded_bytes_and_text() {
        assert_eq!(
            show(&[0x48, 0x83, 0xec, 0x28], None),
            "fffff800`00002000    48 83 EC 28                         sub rsp, 0x28\n"
        );
    }

    #[test]
    fn conditional_jumps_say_whether_they_are_taken() {
        assert!(show(&[0x74, 0x05], Some(0x46)).ends_with("jz 0xFFFFF80000002007 [taken]\n"));
        assert!(show(&[0x74, 0x05], Some(0x2)).ends_with("[not taken]\n"));
    }

    #[test]
    fn every_piece_is_a_message_of_its_own() {
        let style = Style {
            syntax: Syntax::Intel,
            symbols: None,
            bitness: 64,
        };
        let pieces = messages(&style, &[0x90], 0x1000, 1, None);
        assert_eq!(pieces.len(), 1 + 1 + 11 + 1);
    }
}
