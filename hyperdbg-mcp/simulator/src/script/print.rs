//! `printf`.

use super::Target;
use super::parser::Expr;
use super::run::{RunError, Runner};

/// Bytes that one `printf` can make.
const LIMIT: usize = 4096;

/// One conversion in a format.
struct Conversion {
    zero: bool,
    width: usize,
    kind: char,
    wide: bool,
    long: bool,
}

impl<T: Target> Runner<'_, T> {
    pub(super) fn printf(&mut self, arguments: &[Expr]) -> Result<(), RunError> {
        let Some((Expr::Text { value: format, .. }, rest)) = arguments.split_first() else {
            return Ok(());
        };
        let mut rest = rest.iter();
        let mut text: Vec<u8> = Vec::new();
        let mut characters = format.chars().peekable();
        while let Some(c) = characters.next() {
            if c != '%' {
                text.extend(c.to_string().into_bytes());
                continue;
            }
            if characters.next_if_eq(&'%').is_some() {
                text.push(b'%');
                continue;
            }
            let mut conversion = Conversion {
                zero: false,
                width: 0,
                kind: ' ',
                wide: false,
                long: false,
            };
            for c in characters.by_ref() {
                match c {
                    '0' if conversion.width == 0 => conversion.zero = true,
                    '0'..='9' => conversion.width = conversion.width * 10 + (c as usize - '0' as usize),
                    '-' | '.' | 'h' => {}
                    'l' => conversion.long = true,
                    'w' => conversion.wide = true,
                    other => {
                        conversion.kind = other;
                        break;
                    }
                }
                conversion.width = conversion.width.min(64);
            }
            let argument = rest.next();
            self.convert(&conversion, argument, &mut text)?;
        }
        text.truncate(LIMIT);
        self.outcome.text.extend(text);
        Ok(())
    }

    fn convert(
        &mut self,
        conversion: &Conversion,
        argument: Option<&Expr>,
        text: &mut Vec<u8>,
    ) -> Result<(), RunError> {
        if let (Some(Expr::Text { value, .. }), 's') = (argument, conversion.kind) {
            text.extend(value.as_bytes());
            return Ok(());
        }
        let value = argument.map_or(Ok(0), |argument| self.value(argument))?;
        let short = value as u32;
        let digits = match (conversion.kind, conversion.long) {
            ('d' | 'i', true) => (value as i64).to_string(),
            ('d' | 'i', false) => (short as i32).to_string(),
            ('u', true) => value.to_string(),
            ('u', false) => short.to_string(),
            ('x', true) => format!("{value:x}"),
            ('x', false) => format!("{short:x}"),
            ('X', true) => format!("{value:X}"),
            ('X', false) => format!("{short:X}"),
            ('p', _) => format!("{value:016x}"),
            ('c', _) => {
                text.push(value as u8);
                return Ok(());
            }
            ('s', _) => return self.string(value, conversion.wide, text),
            _ => return Ok(()),
        };
        let fill = if conversion.zero { b'0' } else { b' ' };
        text.extend(std::iter::repeat_n(
            fill,
            conversion.width.saturating_sub(digits.len()),
        ));
        text.extend(digits.into_bytes());
        Ok(())
    }

    fn string(&mut self, address: u64, wide: bool, text: &mut Vec<u8>) -> Result<(), RunError> {
        let size = if wide { 2 } else { 1 };
        for index in 0..LIMIT as u64 {
            let unit = self.load(address.wrapping_add(index * size), size as usize)?;
            if unit == 0 {
                break;
            }
            text.push(unit as u8);
        }
        Ok(())
    }
}
