//! Values in the form in which they travel as JSON: addresses and 64-bit numbers as `0x…` strings, bytes as hex.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::arguments::echo;

/// A 64-bit value that travels as a `0x…` string, because JSON numbers are exact only up to 2^53.
///
/// Accepts `0x` + hex digits, also with WinDbg's backtick in the middle (``fffff801`2a400000`` needs the prefix
/// too: a bare number's radix is never guessed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hex(pub u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl std::str::FromStr for Hex {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let plain = text.replace('`', "");
        let digits = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X"));
        let Some(digits) = digits else {
            return Err(format!(
                "`{}` does not say its radix: write it as 0x… in hexadecimal",
                echo(text)
            ));
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!(
                "`{}` is not a hexadecimal number: write 0x and hex digits",
                echo(text)
            ));
        }
        u64::from_str_radix(digits, 16)
            .map(Self)
            .map_err(|_| format!("`{}` does not fit in 64 bits", echo(text)))
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

impl JsonSchema for Hex {
    fn schema_name() -> Cow<'static, str> {
        "Hex".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^0[xX][0-9a-fA-F`]+$" })
    }
}

/// Bytes that travel as a string of hex digit pairs; blanks between pairs are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HexBytes(pub Vec<u8>);

impl fmt::Display for HexBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for HexBytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        if !digits.len().is_multiple_of(2) {
            return Err(
                "the bytes have an odd number of hex digits: write two digits for each byte".to_owned(),
            );
        }
        let nibble = |byte: u8| {
            (byte as char)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        };
        digits
            .chunks_exact(2)
            .map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?))
            .collect::<Option<Vec<u8>>>()
            .map(Self)
            .ok_or_else(|| {
                format!(
                    "`{}` holds something that is no hex digit: write bytes like 48 8b c1",
                    echo(text)
                )
            })
    }
}

impl Serialize for HexBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

impl JsonSchema for HexBytes {
    fn schema_name() -> Cow<'static, str> {
        "HexBytes".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-fA-F ]*$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_needs_its_radix_and_accepts_backticks() {
        assert_eq!("0xfffff801`2a400000".parse(), Ok(Hex(0xffff_f801_2a40_0000)));
        assert!("1000".parse::<Hex>().unwrap_err().contains("radix"));
        assert!("0x".parse::<Hex>().is_err());
        assert!("0x-1".parse::<Hex>().is_err());
        assert!(
            "0x1ffffffffffffffff"
                .parse::<Hex>()
                .unwrap_err()
                .contains("64 bits")
        );
    }

    #[test]
    fn bytes_are_pairs_of_digits() {
        assert_eq!("48 8b C1".parse(), Ok(HexBytes(vec![0x48, 0x8b, 0xc1])));
        assert!("4".parse::<HexBytes>().unwrap_err().contains("odd"));
        assert!("zz".parse::<HexBytes>().is_err());
        assert_eq!(HexBytes(vec![0, 0xff]).to_string(), "00ff");
    }
}
