//! Reads one statement: mnemonic, prefixes and operands.

use iced_x86::{Mnemonic, Register};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A memory operand as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRef {
    /// Bytes that `… ptr` asked for; 0 when nothing was said.
    pub size: usize,
    /// Segment override.
    pub segment: Register,
    /// Base register.
    pub base: Register,
    /// Index register.
    pub index: Register,
    /// Factor of the index.
    pub scale: u32,
    /// Displacement; an absolute address when it came from a symbol without registers.
    pub displacement: i64,
    /// The displacement is a symbol's address.
    pub symbolic: bool,
}

/// One operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A number; `symbolic` when it is the address of a symbol or label.
    Value {
        /// The number.
        value: u64,
        /// It came from a name.
        symbolic: bool,
    },
    /// Memory.
    Memory(MemoryRef),
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The instruction.
    pub mnemonic: Mnemonic,
    /// `rep`, `repe` or `repne`.
    pub repeat: Option<Repeat>,
    /// `lock`.
    pub lock: bool,
    /// The operands, destination first.
    pub operands: Vec<Operand>,
}

/// A repeat prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// `rep` and `repe`.
    Equal,
    /// `repne`.
    NotEqual,
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// Splits a leading `label:` off; a colon that belongs to `gs:[…]` is none.
pub(super) fn leading_label(source: &str) -> Option<(&str, &str)> {
    let (label, rest) = source.split_once(':')?;
    let is_name = !label.is_empty()
        && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && register(&label.to_ascii_lowercase()).is_none();
    is_name.then_some((label, rest))
}

/// Parses one statement.
pub(super) fn statement(source: &str, lookup: Lookup<'_>) -> Result<Statement, String> {
    let mut repeat = None;
    let mut lock = false;
    let mut rest = source.trim();
    loop {
        let (word, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match word.to_ascii_lowercase().as_str() {
            "rep" | "repe" | "repz" => repeat = Some(Repeat::Equal),
            "repne" | "repnz" => repeat = Some(Repeat::NotEqual),
            "lock" => lock = true,
            _ => {
                let mnemonic = mnemonic(&word.to_ascii_lowercase())
                    .ok_or_else(|| format!("'{word}' is no instruction that this assembler knows"))?;
                let operands = split_operands(tail)
                    .into_iter()
                    .map(|operand| parse_operand(operand, lookup))
                    .collect::<Result<Vec<_>, _>>()?;
                return Ok(Statement {
                    mnemonic,
                    repeat,
                    lock,
                    operands,
                });
            }
        }
        rest = tail.trim();
    }
}

fn split_operands(text: &str) -> Vec<&str> {
    let text = text.trim();
    if text.is_empty() {
        Vec::new()
    } else {
        text.split(',').map(str::trim).collect()
    }
}

fn parse_operand(text: &str, lookup: Lookup<'_>) -> Result<Operand, String> {
    if text.is_empty() {
        return Err("an operand is missing".into());
    }
    if let Some(found) = register(&text.to_ascii_lowercase()) {
        return Ok(Operand::Register(found));
    }
    if text.contains('[') {
        return memory(text, lookup).map(Operand::Memory);
    }
    if let Some(value) = number(text) {
        return Ok(Operand::Value {
            value,
            symbolic: false,
        });
    }
    match lookup(text) {
        Some(value) => Ok(Operand::Value {
            value,
            symbolic: true,
        }),
        None => Err(format!(
            "'{text}' is neither a register nor a number nor a known symbol"
        )),
    }
}

fn memory(text: &str, lookup: Lookup<'_>) -> Result<MemoryRef, String> {
    let (before, rest) = text.split_once('[').ok_or("a '[' is missing")?;
    let (inside, after) = rest.split_once(']').ok_or("a ']' is missing")?;
    if !after.trim().is_empty() {
        return Err(format!("'{}' after the memory operand", after.trim()));
    }
    let mut found = MemoryRef {
        size: 0,
        segment: Register::None,
        base: Register::None,
        index: Register::None,
        scale: 1,
        displacement: 0,
        symbolic: false,
    };
    for word in before.replace(':', " ").split_whitespace() {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "byte" => found.size = 1,
            "word" => found.size = 2,
            "dword" => found.size = 4,
            "qword" => found.size = 8,
            "ptr" => {}
            other => match register(other).filter(|register| register.is_segment_register()) {
                Some(segment) => found.segment = segment,
                None => return Err(format!("'{other}' before a memory operand")),
            },
        }
    }
    for (negative, term) in terms(inside) {
        add_term(&mut found, negative, term, lookup)?;
    }
    if let Some((before, after)) = inside.trim().split_once(':') {
        return Err(format!("'{before}:{after}' inside the brackets"));
    }
    Ok(found)
}

/// Splits `a+b-c` into signed terms.
fn terms(text: &str) -> Vec<(bool, &str)> {
    let mut found = Vec::new();
    let mut negative = false;
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if c == '+' || c == '-' {
            found.push((negative, text[start..at].trim()));
            negative = c == '-';
            start = at + 1;
        }
    }
    found.push((negative, text[start..].trim()));
    found.retain(|(_, term)| !term.is_empty());
    found
}

fn add_term(found: &mut MemoryRef, negative: bool, term: &str, lookup: Lookup<'_>) -> Result<(), String> {
    if let Some((name, scale)) = term.split_once('*') {
        let index = register(&name.trim().to_ascii_lowercase());
        let scale = number(scale.trim()).and_then(|scale| u32::try_from(scale).ok());
        return match (index, scale) {
            (Some(index), Some(scale @ (1 | 2 | 4 | 8))) if !negative => {
                found.index = index;
                found.scale = scale;
                Ok(())
            }
            _ => Err(format!("'{term}' is no scaled register")),
        };
    }
    if let Some(register) = register(&term.to_ascii_lowercase()) {
        if negative {
            return Err(format!("'-{term}' in an address"));
        }
        if found.base == Register::None {
            found.base = register;
        } else if found.index == Register::None {
            found.index = register;
        } else {
            return Err("more than two registers in an address".into());
        }
        return Ok(());
    }
    let (value, symbolic) = match number(term) {
        Some(value) => (value, false),
        None => (
            lookup(term).ok_or_else(|| format!("'{term}' is no known symbol"))?,
            true,
        ),
    };
    let value = value as i64;
    found.displacement = found
        .displacement
        .wrapping_add(if negative { value.wrapping_neg() } else { value });
    found.symbolic |= symbolic;
    Ok(())
}

/// Decimal, `0x…` or `…h`.
fn number(text: &str) -> Option<u64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let lower = text.to_ascii_lowercase();
    let value = if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()?
    } else if let Some(hex) = lower
        .strip_suffix('h')
        .filter(|_| lower.starts_with(|c: char| c.is_ascii_digit()))
    {
        u64::from_str_radix(hex, 16).ok()?
    } else {
        lower.parse().ok()?
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// A register by its lower-case name.
pub(super) fn register(name: &str) -> Option<Register> {
    static NAMES: OnceLock<HashMap<String, Register>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        Register::values()
            .filter(|register| *register != Register::None)
            .map(|register| (format!("{register:?}").to_ascii_lowercase(), register))
            .collect()
    });
    names.get(name).copied()
}

fn mnemonic(name: &str) -> Option<Mnemonic> {
    static NAMES: OnceLock<HashMap<String, Mnemonic>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        Mnemonic::values()
            .map(|mnemonic| (format!("{mnemonic:?}").to_ascii_lowercase(), mnemonic))
            .collect()
    });
    let name = match name {
        "jz" => "je",
        "jnz" => "jne",
        "jc" | "jnae" => "jb",
        "jnc" | "jnb" => "jae",
        "jnbe" => "ja",
        "jna" => "jbe",
        "jnle" => "jg",
        "jng" => "jle",
        "jnl" => "jge",
        "jnge" => "jl",
        "setz" => "sete",
        "setnz" => "setne",
        "setnb" => "setae",
        "sal" => "shl",
        "iret" => "iretq",
        other => other,
    };
    names
        .get(name)
        .copied()
        .filter(|mnemonic| *mnemonic != Mnemonic::INVALID)
}
