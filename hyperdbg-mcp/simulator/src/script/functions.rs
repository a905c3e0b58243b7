//! The functions of the language: how many arguments they take, and what they do with values.

use super::run::{RunError, Runner};
use super::{Request, Target, parser::Expr};

/// Name, least and most arguments.
const TABLE: &[(&str, usize, usize)] = &[
    ("poi", 1, 1),
    ("db", 1, 1),
    ("dw", 1, 1),
    ("dd", 1, 1),
    ("dq", 1, 1),
    ("hi", 1, 1),
    ("low", 1, 1),
    ("poi_pa", 1, 1),
    ("db_pa", 1, 1),
    ("dw_pa", 1, 1),
    ("dd_pa", 1, 1),
    ("dq_pa", 1, 1),
    ("hi_pa", 1, 1),
    ("low_pa", 1, 1),
    ("eb", 2, 2),
    ("ed", 2, 2),
    ("eq", 2, 2),
    ("eb_pa", 2, 2),
    ("ed_pa", 2, 2),
    ("eq_pa", 2, 2),
    ("neg", 1, 1),
    ("not", 1, 1),
    ("reference", 1, 1),
    ("check_address", 1, 1),
    ("virtual_to_physical", 1, 1),
    ("physical_to_virtual", 1, 1),
    ("disassemble_len", 1, 1),
    ("disassemble_len64", 1, 1),
    ("disassemble_len32", 1, 1),
    ("strlen", 1, 1),
    ("wcslen", 1, 1),
    ("strcmp", 2, 2),
    ("strncmp", 3, 3),
    ("memcmp", 3, 3),
    ("memcpy", 3, 3),
    ("rdtsc", 0, 0),
    ("rdtscp", 0, 0),
    ("interlocked_increment", 1, 1),
    ("interlocked_decrement", 1, 1),
    ("interlocked_exchange", 2, 2),
    ("interlocked_exchange_add", 2, 2),
    ("interlocked_compare_exchange", 3, 3),
    ("print", 1, 1),
    ("formats", 1, 1),
    ("printf", 1, 32),
    ("pause", 0, 0),
    ("flush", 0, 0),
    ("event_enable", 1, 1),
    ("event_disable", 1, 1),
    ("event_clear", 1, 1),
    ("event_sc", 1, 1),
    ("microsleep", 1, 1),
    ("spinlock_lock", 1, 1),
    ("spinlock_unlock", 1, 1),
    ("test_statement", 1, 1),
];

/// The longest string that the language follows.
const STRING_LIMIT: u64 = 0x1000;

pub(super) fn exists(name: &str) -> bool {
    arity(name).is_some()
}

pub(super) fn arity(name: &str) -> Option<(usize, usize)> {
    TABLE.iter().find(|row| row.0 == name).map(|row| (row.1, row.2))
}

impl<T: Target> Runner<'_, T> {
    /// Calls a function. Void functions give 0.
    pub(super) fn call(&mut self, name: &str, arguments: &[Expr]) -> Result<u64, RunError> {
        if name == "printf" {
            return self.printf(arguments).map(|()| 0);
        }
        if let [Expr::Text { value, wide }] = arguments
            && matches!(name, "strlen" | "wcslen")
        {
            // A literal has its length in itself; eight wide characters overrun the real engine.
            if *wide && value.chars().count() == 8 {
                std::process::abort();
            }
            return Ok(value.chars().count() as u64);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        let at = |index: usize| values.get(index).copied().unwrap_or(0);
        let first = at(0);
        Ok(match name {
            "poi" | "dq" => self.load(first, 8)?,
            "db" => self.load(first, 1)?,
            "dw" => self.load(first, 2)?,
            "dd" => self.load(first, 4)?,
            "hi" => self.load(first, 4)? >> 16,
            "low" => self.load(first, 4)? & 0xffff,
            "poi_pa" | "dq_pa" => self.load_physical(first, 8)?,
            "db_pa" => self.load_physical(first, 1)?,
            "dw_pa" => self.load_physical(first, 2)?,
            "dd_pa" => self.load_physical(first, 4)?,
            "hi_pa" => self.load_physical(first, 4)? >> 16,
            "low_pa" => self.load_physical(first, 4)? & 0xffff,
            "eb" => self.store(first, 1, at(1))?,
            "ed" => self.store(first, 4, at(1))?,
            "eq" => self.store(first, 8, at(1))?,
            "eb_pa" => self.store_physical(first, 1, at(1))?,
            "ed_pa" => self.store_physical(first, 4, at(1))?,
            "eq_pa" => self.store_physical(first, 8, at(1))?,
            "neg" => first.wrapping_neg(),
            "not" => !first,
            "reference" | "test_statement" => first,
            "check_address" => u64::from(self.target.physical(first).is_some()),
            "virtual_to_physical" => self.target.physical(first).unwrap_or(0),
            "physical_to_virtual" => self.target.virtual_address(first).unwrap_or(0),
            "disassemble_len" | "disassemble_len64" => self.instruction_length(first, 64),
            "disassemble_len32" => self.instruction_length(first, 32),
            "strlen" => self.length(first, 1)?,
            "wcslen" => self.length(first, 2)?,
            "strcmp" => self.compare(first, at(1), STRING_LIMIT, true)?,
            "strncmp" => self.compare(first, at(1), at(2), true)?,
            "memcmp" => self.compare(first, at(1), at(2), false)?,
            "memcpy" => self.copy(first, at(1), at(2))?,
            "rdtsc" | "rdtscp" => self.target.time_stamp(),
            "interlocked_increment" => self.exchange(first, |old| old.wrapping_add(1))?.1,
            "interlocked_decrement" => self.exchange(first, |old| old.wrapping_sub(1))?.1,
            "interlocked_exchange" => self.exchange(first, |_| at(1))?.0,
            "interlocked_exchange_add" => self.exchange(first, |old| old.wrapping_add(at(1)))?.0,
            "interlocked_compare_exchange" => {
                self.exchange(first, |old| if old == at(2) { at(1) } else { old })?
                    .0
            }
            "print" => {
                self.outcome.text.extend(format!("{first:x}\n").into_bytes());
                0
            }
            "formats" => {
                self.outcome.formatted = Some(first);
                0
            }
            "pause" => self.request(Request::Pause),
            "flush" => self.request(Request::Flush),
            "event_enable" => self.request(Request::EnableEvent(first)),
            "event_disable" => self.request(Request::DisableEvent(first)),
            "event_clear" => self.request(Request::ClearEvent(first)),
            "event_sc" => self.request(Request::ShortCircuit(first != 0)),
            // Time does not pass inside a script, and one core has no one to lock out.
            _ => 0,
        })
    }

    fn request(&mut self, request: Request) -> u64 {
        self.outcome.requests.push(request);
        0
    }

    pub(super) fn load(&mut self, address: u64, size: usize) -> Result<u64, RunError> {
        let mut raw = [0; 8];
        if self.target.read(address, &mut raw[..size]) {
            Ok(u64::from_le_bytes(raw))
        } else {
            Err(RunError::InvalidAddress(address))
        }
    }

    fn load_physical(&mut self, address: u64, size: usize) -> Result<u64, RunError> {
        let mut raw = [0; 8];
        if self.target.read_physical(address, &mut raw[..size]) {
            Ok(u64::from_le_bytes(raw))
        } else {
            Err(RunError::InvalidAddress(address))
        }
    }

    /// Writers give 1, as a sign of success.
    pub(super) fn store(&mut self, address: u64, size: usize, value: u64) -> Result<u64, RunError> {
        if self.target.write(address, &value.to_le_bytes()[..size]) {
            Ok(1)
        } else {
            Err(RunError::InvalidAddress(address))
        }
    }

    fn store_physical(&mut self, address: u64, size: usize, value: u64) -> Result<u64, RunError> {
        if self.target.write_physical(address, &value.to_le_bytes()[..size]) {
            Ok(1)
        } else {
            Err(RunError::InvalidAddress(address))
        }
    }

    fn exchange(&mut self, address: u64, change: impl Fn(u64) -> u64) -> Result<(u64, u64), RunError> {
        let old = self.load(address, 8)?;
        let new = change(old);
        self.store(address, 8, new)?;
        Ok((old, new))
    }

    fn length(&mut self, address: u64, size: usize) -> Result<u64, RunError> {
        for index in 0..STRING_LIMIT {
            if self.load(address.wrapping_add(index * size as u64), size)? == 0 {
                return Ok(index);
            }
        }
        Ok(STRING_LIMIT)
    }

    fn compare(&mut self, left: u64, right: u64, limit: u64, text: bool) -> Result<u64, RunError> {
        for index in 0..limit.min(STRING_LIMIT * 16) {
            let (one, other) = (
                self.load(left.wrapping_add(index), 1)?,
                self.load(right.wrapping_add(index), 1)?,
            );
            if one != other {
                return Ok(if one < other { u64::MAX } else { 1 });
            }
            if text && one == 0 {
                break;
            }
        }
        Ok(0)
    }

    fn copy(&mut self, target: u64, source: u64, size: u64) -> Result<u64, RunError> {
        for index in 0..size.min(STRING_LIMIT * 16) {
            let byte = self.load(source.wrapping_add(index), 1)?;
            self.store(target.wrapping_add(index), 1, byte)?;
        }
        Ok(0)
    }

    fn instruction_length(&mut self, address: u64, bitness: u32) -> u64 {
        let mut bytes = [0; 16];
        let mut length = 0;
        while length < bytes.len()
            && self
                .target
                .read(address.wrapping_add(length as u64), &mut bytes[length..=length])
        {
            length += 1;
        }
        let mut decoder = iced_x86::Decoder::new(bitness, &bytes[..length], iced_x86::DecoderOptions::NONE);
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            0
        } else {
            instruction.len() as u64
        }
    }
}
