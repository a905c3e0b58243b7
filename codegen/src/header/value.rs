//! Integer values with their C types, and the arithmetic on them.

/// Type of an integer value after promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IntType {
    /// 4 or 8 once promoted; 1 and 2 occur as the target of a cast.
    pub(crate) bytes: u64,
    /// Whether it is signed.
    pub(crate) signed: bool,
}

/// C `int`.
pub(crate) const INT: IntType = IntType {
    bytes: 4,
    signed: true,
};
/// 64 bits, signed: every value in a preprocessor condition.
pub(crate) const LONG_LONG: IntType = IntType {
    bytes: 8,
    signed: true,
};

impl IntType {
    fn bits(self) -> u32 {
        u32::try_from(self.bytes * 8).unwrap_or(64)
    }

    /// The type that arithmetic computes in.
    fn promoted(self) -> Self {
        if self.bytes < 4 { INT } else { self }
    }

    fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bytes.cmp(&b.bytes) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal => Self {
                bytes: a.bytes,
                signed: a.signed && b.signed,
            },
        }
    }

    fn holds(self, number: i128) -> bool {
        Value::new(number, self).number == number
    }
}

/// An integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value {
    number: i128,
    ty: IntType,
}

impl Value {
    /// `number` brought into the range of `ty` the way C's conversion does.
    pub(crate) fn new(number: i128, ty: IntType) -> Self {
        let spare = 128 - ty.bits();
        let shifted = number << spare;
        let number = if ty.signed {
            shifted >> spare
        } else {
            // The shift must fill with zeros: go through the unsigned form.
            (shifted.cast_unsigned() >> spare).cast_signed()
        };
        Self { number, ty }
    }

    pub(crate) fn int(number: i128) -> Self {
        Self::new(number, INT)
    }

    pub(crate) fn boolean(truth: bool) -> Self {
        Self::int(i128::from(truth))
    }

    pub(crate) fn number(self) -> i128 {
        self.number
    }

    pub(crate) fn is_true(self) -> bool {
        self.number != 0
    }

    pub(crate) fn cast(self, ty: IntType) -> Self {
        Self::new(self.number, ty)
    }

    /// Both branches of `?:` have one type.
    pub(crate) fn in_common_type(self, other: Self) -> Self {
        self.cast(self.ty.common(other.ty))
    }

    /// A unary operator; `None` when it is none.
    pub(crate) fn unary(self, operator: &str) -> Option<Self> {
        let ty = self.ty.promoted();
        Some(match operator {
            "+" => Self::new(self.number, ty),
            "-" => Self::new(-self.number, ty),
            "~" => Self::new(!self.number, ty),
            "!" => Self::boolean(self.number == 0),
            _ => return None,
        })
    }

    /// A binary operator on two values; the error says why there is no result.
    pub(crate) fn binary(self, operator: &str, other: Self) -> Result<Self, &'static str> {
        if matches!(operator, "<<" | ">>") {
            let ty = self.ty.promoted();
            let by = u32::try_from(other.number).ok().filter(|by| *by < ty.bits());
            let by = by.ok_or("the shift is wider than the type")?;
            let number = Self::new(self.number, ty).number;
            return Ok(Self::new(
                if operator == "<<" {
                    number << by
                } else {
                    number >> by
                },
                ty,
            ));
        }
        let ty = self.ty.common(other.ty);
        let (a, b) = (self.cast(ty).number, other.cast(ty).number);
        let arithmetic = |number| Ok(Self::new(number, ty));
        match operator {
            "+" => arithmetic(a + b),
            "-" => arithmetic(a - b),
            "*" => arithmetic(a.wrapping_mul(b)),
            "/" | "%" if b == 0 => Err("division by zero"),
            "/" => arithmetic(a / b),
            "%" => arithmetic(a % b),
            "&" => arithmetic(a & b),
            "|" => arithmetic(a | b),
            "^" => arithmetic(a ^ b),
            "==" => Ok(Self::boolean(a == b)),
            "!=" => Ok(Self::boolean(a != b)),
            "<" => Ok(Self::boolean(a < b)),
            ">" => Ok(Self::boolean(a > b)),
            "<=" => Ok(Self::boolean(a <= b)),
            ">=" => Ok(Self::boolean(a >= b)),
            "&&" => Ok(Self::boolean(a != 0 && b != 0)),
            "||" => Ok(Self::boolean(a != 0 || b != 0)),
            _ => Err("unknown operator"),
        }
    }
}

/// Reads an integer literal with `sizeof(long)` of `long_bytes`; the error says what is wrong with it.
pub(crate) fn integer(text: &str, long_bytes: u64) -> Result<Value, &'static str> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    if radix == 10 && (lower.contains('.') || lower.contains('e')) {
        return Err("floating-point numbers are not supported");
    }
    let end = digits
        .find(|char: char| !char.is_digit(radix))
        .unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let octal_zero = radix == 8 && digits.is_empty();
    let number = if octal_zero {
        Ok(0)
    } else {
        u64::from_str_radix(digits, radix)
    };
    let number = i128::from(number.map_err(|_| "this is no integer of up to 64 bits")?);
    let (unsigned, long) = match suffix {
        "" => (false, ""),
        "u" => (true, ""),
        "l" | "ll" | "i64" => (false, suffix),
        "ul" | "lu" => (true, "l"),
        "ull" | "llu" | "ui64" => (true, "ll"),
        other if other.starts_with(|char: char| char.is_ascii_digit()) => {
            return Err("this digit does not exist in the base that the integer is written in");
        }
        _ => return Err("this suffix of an integer is unknown"),
    };
    let least = match long {
        "" => 4,
        "l" => long_bytes,
        _ => 8,
    };
    for bytes in [4, 8].into_iter().filter(|bytes| *bytes >= least) {
        for signed in [true, false] {
            let ty = IntType { bytes, signed };
            // A decimal literal without `u` is never unsigned.
            let allowed = if unsigned { !signed } else { signed || radix != 10 };
            if allowed && ty.holds(number) {
                return Ok(Value::new(number, ty));
            }
        }
    }
    Err("this integer fits no type that its spelling allows")
}

/// Reads an integer literal in a condition, where every number has 64 bits.
pub(crate) fn widest(text: &str) -> Result<Value, &'static str> {
    let number = integer(text, 8)?.number;
    let signed = !text.contains(['u', 'U']) && i64::try_from(number).is_ok();
    Ok(Value::new(number, IntType { bytes: 8, signed }))
}

/// Reads a character constant.
pub(crate) fn character(text: &str) -> Result<Value, &'static str> {
    let (wide, rest) = match text.strip_prefix('L') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let inner = rest
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .ok_or("this prefix of a character constant is not supported")?;
    let mut chars = inner.chars();
    let first = chars.next().ok_or("this character constant is empty")?;
    let number = if first == '\\' {
        let escape = chars.next().ok_or("this escape is not complete")?;
        match escape {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => i128::from(u32::from(escape)),
            'x' => {
                let digits: String = chars.by_ref().collect();
                i128::from(u32::from_str_radix(&digits, 16).map_err(|_| "this escape is no number")?)
            }
            '0'..='7' => {
                let digits: String = std::iter::once(escape).chain(chars.by_ref()).collect();
                i128::from(u32::from_str_radix(&digits, 8).map_err(|_| "this escape is no number")?)
            }
            _ => return Err("this escape is unknown"),
        }
    } else {
        i128::from(u32::from(first))
    };
    if chars.next().is_some() {
        return Err("a character constant of several characters has no portable value");
    }
    let ty = IntType {
        bytes: if wide { 2 } else { 1 },
        signed: !wide,
    };
    if number >> (ty.bytes * 8) != 0 {
        return Err("this character does not fit its type");
    }
    // In C++ the constant is a `char`; where it is computed with, it is promoted like one.
    Ok(Value::new(number, ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Value {
        integer(text, 4).unwrap()
    }

    #[test]
    fn literals_take_the_first_type_that_fits() {
        assert_eq!(
            of("0xffffffff"),
            Value::new(
                0xffff_ffff,
                IntType {
                    bytes: 4,
                    signed: false
                }
            )
        );
        assert_eq!(of("4294967295"), Value::new(0xffff_ffff, LONG_LONG));
        assert_eq!(
            of("0xffffffffffffff00").ty,
            IntType {
                bytes: 8,
                signed: false
            }
        );
        assert_eq!(of("017").number(), 15);
        assert_eq!(of("0").number(), 0);
        assert_eq!(
            of("0ull").ty,
            IntType {
                bytes: 8,
                signed: false
            }
        );
        assert_eq!(integer("1ul", 4).unwrap().ty.bytes, 4);
        assert_eq!(integer("1ul", 8).unwrap().ty.bytes, 8);
    }

    #[test]
    fn what_is_no_integer_is_refused() {
        for text in [
            "1.5",
            "1e3",
            "08",
            "0x",
            "1uu",
            "18446744073709551616",
            "9223372036854775808",
            "0b2",
        ] {
            assert!(integer(text, 4).is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_follows_c() {
        assert_eq!(of("1").binary("<<", of("31")).unwrap().number(), -0x8000_0000);
        assert_eq!(of("1u").binary("<<", of("31")).unwrap().number(), 0x8000_0000);
        let minus_one = of("1").unary("-").unwrap();
        assert!(!minus_one.binary("<", of("1u")).unwrap().is_true());
        assert_eq!(of("0").unary("~").unwrap().number(), -1);
        assert_eq!(of("7").binary("/", of("2")).unwrap().number(), 3);
        assert!(of("1").binary("/", of("0")).is_err());
        assert!(of("1").binary("<<", of("32")).is_err());
    }

    #[test]
    fn numbers_in_conditions_are_as_wide_as_can_be() {
        let minus_one = Value::new(-1, LONG_LONG);
        let below = |text: &str| minus_one.binary("<", widest(text).unwrap()).unwrap().is_true();
        assert!(below("1"));
        assert!(below("0xffffffff"));
        assert!(!below("1u"));
        assert!(!below("0xffffffffffffffff"));
    }

    #[test]
    fn characters_have_their_code() {
        for (text, value) in [
            ("'A'", 65),
            ("'\\n'", 10),
            ("'\\0'", 0),
            ("'\\x41'", 65),
            ("'\\xff'", -1),
            ("L'A'", 65),
        ] {
            assert_eq!(character(text).unwrap().number(), value, "{text}");
        }
        for text in ["''", "'ab'", "'\\q'", "u8'a'", "'\u{e9}\u{e9}'"] {
            assert!(character(text).is_err(), "{text}");
        }
    }
}
