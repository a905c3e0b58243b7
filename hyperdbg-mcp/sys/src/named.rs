//! Enumerators by name: [`CEnum`] is implemented by every generated enum, [`Named`] is how one travels as JSON.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A C enum.
pub trait CEnum: Copy + Sized {
    /// C name of the type.
    const C_NAME: &'static str;
    /// C names with their values, in the order of the header.
    const NAMES: &'static [(&'static str, i32)];
    /// Names in tool arguments and results, in the same order.
    const SHORT_NAMES: &'static [(&'static str, i32)];

    /// The enum of that value, known or not.
    fn from_value(value: i32) -> Self;

    /// The value.
    fn value(self) -> i32;

    /// The C name; none for an unknown value.
    fn name(self) -> Option<&'static str> {
        find_name(Self::NAMES, self.value())
    }

    /// The short name; none for an unknown value.
    fn short_name(self) -> Option<&'static str> {
        find_name(Self::SHORT_NAMES, self.value())
    }

    /// The enumerator of that C name.
    fn from_name(name: &str) -> Option<Self> {
        find_value(Self::NAMES, name).map(Self::from_value)
    }

    /// The enumerator of that short name.
    fn from_short_name(name: &str) -> Option<Self> {
        find_value(Self::SHORT_NAMES, name).map(Self::from_value)
    }

    /// Writes the C name, or `TYPE(value)`.
    ///
    /// # Errors
    /// What the formatter says.
    fn fmt_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{}({})", Self::C_NAME, self.value()),
        }
    }
}

fn find_name(names: &[(&'static str, i32)], value: i32) -> Option<&'static str> {
    names
        .iter()
        .find(|(_, known)| *known == value)
        .map(|(name, _)| *name)
}

fn find_value(names: &[(&'static str, i32)], name: &str) -> Option<i32> {
    names
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

/// An enumerator that travels as its short name; an unknown value as `TYPE(value)`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Named<E>(pub E);

impl<E: CEnum> fmt::Display for Named<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.short_name() {
            Some(name) => f.write_str(name),
            None => self.0.fmt_name(f),
        }
    }
}

impl<E: CEnum> fmt::Debug for Named<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<E: CEnum> Serialize for Named<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, E: CEnum> Deserialize<'de> for Named<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        E::from_short_name(&text).map(Self).ok_or_else(|| {
            let names: Vec<&str> = E::SHORT_NAMES.iter().map(|(name, _)| *name).take(16).collect();
            let rest = if E::SHORT_NAMES.len() > names.len() {
                ", …"
            } else {
                ""
            };
            de::Error::custom(format!("`{text}` is none of: {}{rest}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEBUGGER_EDIT_MEMORY_TYPE, DEBUGGER_READ_MEMORY_TYPE, REGS_ENUM};

    #[test]
    fn reading_and_writing_number_the_memory_types_in_opposite_ways() {
        assert_eq!(
            DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS.value(),
            1
        );
        assert_eq!(DEBUGGER_EDIT_MEMORY_TYPE::EDIT_VIRTUAL_MEMORY.value(), 0);
    }

    #[test]
    fn names_go_both_ways_and_unknown_values_survive() {
        assert_eq!(REGS_ENUM::from_short_name("rip"), Some(REGS_ENUM::REGISTER_RIP));
        assert_eq!(REGS_ENUM::REGISTER_RIP.short_name(), Some("rip"));
        assert_eq!(REGS_ENUM::from_name("REGISTER_RIP").map(CEnum::value), Some(102));
        let unknown = DEBUGGER_READ_MEMORY_TYPE(17);
        assert_eq!(unknown.name(), None);
        assert_eq!(unknown.to_string(), "DEBUGGER_READ_MEMORY_TYPE(17)");
        assert_eq!(Named(unknown).to_string(), "DEBUGGER_READ_MEMORY_TYPE(17)");
    }

    #[test]
    fn a_name_that_does_not_exist_is_answered_with_those_that_do() {
        let error = serde_json::from_str::<Named<DEBUGGER_EDIT_MEMORY_TYPE>>("\"paged\"").unwrap_err();
        assert!(
            error.to_string().contains("virtual_memory, physical_memory"),
            "{error}"
        );
    }
}
