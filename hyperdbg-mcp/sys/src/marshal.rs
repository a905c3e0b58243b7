//! Arguments on their way into C: terminators, encodings and lengths are checked here, so that no call gets a string
//! that means something else to the library.

/// Checks the length of a string without its terminator, and that it holds no NUL.
fn check<T: PartialEq + Default>(units: &[T], min: usize, max: usize) -> Result<(), String> {
    let length = units.len();
    if units.contains(&T::default()) {
        return Err("it holds a NUL character, at which the library would cut it".to_owned());
    }
    if length < min {
        return Err(format!("it has {length} bytes, and at least {min} are needed"));
    }
    if length > max {
        return Err(format!("it has {length} bytes, and at most {max} are allowed"));
    }
    Ok(())
}

/// A terminated copy of a string of bytes below 0x80.
///
/// # Errors
/// Why the library cannot take it.
pub fn ascii(mut bytes: Vec<u8>, min: usize, max: usize) -> Result<Vec<u8>, String> {
    if let Some(at) = bytes.iter().position(|byte| !byte.is_ascii()) {
        return Err(format!(
            "its byte {at} is not ASCII, and the library takes nothing else here"
        ));
    }
    check(&bytes, min, max)?;
    bytes.push(0);
    Ok(bytes)
}

/// A terminated copy of a UTF-8 string.
///
/// # Errors
/// Why the library cannot take it.
pub fn utf8(mut bytes: Vec<u8>, min: usize, max: usize) -> Result<Vec<u8>, String> {
    if let Err(error) = std::str::from_utf8(&bytes) {
        return Err(format!("its byte {} is not UTF-8", error.valid_up_to()));
    }
    check(&bytes, min, max)?;
    bytes.push(0);
    Ok(bytes)
}

/// A terminated copy of a UTF-16 string; lengths count 16-bit units.
///
/// # Errors
/// Why the library cannot take it.
pub fn utf16(mut units: Vec<u16>, min: usize, max: usize) -> Result<Vec<u16>, String> {
    check(&units, min, max)?;
    units.push(0);
    Ok(units)
}

/// Input bytes.
///
/// # Errors
/// Why the library cannot take them.
pub fn bytes(bytes: Vec<u8>, max: usize) -> Result<Vec<u8>, String> {
    if bytes.len() > max {
        return Err(format!(
            "it has {} bytes, and at most {max} are allowed",
            bytes.len()
        ));
    }
    Ok(bytes)
}

/// The size of an output buffer as an argument gives it.
///
/// # Errors
/// When it is more than `max`.
pub fn capacity(size: u64, max: usize) -> Result<usize, String> {
    match usize::try_from(size) {
        Ok(size) if size <= max => Ok(size),
        _ => Err(format!("it asks for {size} bytes, and at most {max} are allowed")),
    }
}

/// A number within bounds that its type does not keep.
///
/// # Errors
/// When it is outside.
pub fn within(value: i128, min: i128, max: i128) -> Result<(), String> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(format!("{value} is not within {min} and {max}"))
}

/// A number of a whole number of steps.
///
/// # Errors
/// When it is not.
pub fn multiple(value: i128, step: i128) -> Result<(), String> {
    if value % step == 0 {
        return Ok(());
    }
    Err(format!("{value} is not a multiple of {step}"))
}

/// An enumerator that is offered.
///
/// # Errors
/// When it is another value.
pub fn one_of<E: crate::CEnum>(value: E, allowed: &[E]) -> Result<(), String> {
    if allowed.iter().any(|known| known.value() == value.value()) {
        return Ok(());
    }
    Err(format!("{} is not offered", crate::Named(value)))
}

/// The bytes of an output buffer up to its terminator.
pub fn until_nul(mut buffer: Vec<u8>) -> Vec<u8> {
    if let Some(end) = buffer.iter().position(|byte| *byte == 0) {
        buffer.truncate(end);
    }
    buffer
}

/// The units of an output buffer up to its terminator.
pub fn until_nul_utf16(mut buffer: Vec<u16>) -> Vec<u16> {
    if let Some(end) = buffer.iter().position(|unit| *unit == 0) {
        buffer.truncate(end);
    }
    buffer
}

/// Copies a string into a zeroed `CHAR` array and leaves room for the terminator.
///
/// # Errors
/// Why it does not fit.
pub fn fill_chars<const N: usize>(target: &mut [core::ffi::c_char; N], text: &[u8]) -> Result<(), String> {
    check(text, 0, N - 1)?;
    for (to, from) in target.iter_mut().zip(text) {
        *to = core::ffi::c_char::from_ne_bytes([*from]);
    }
    Ok(())
}

/// The text of a `CHAR` array up to its terminator; what is not UTF-8 is replaced.
pub fn chars(array: &[core::ffi::c_char]) -> String {
    let bytes: Vec<u8> = array
        .iter()
        .map(|unit| unit.to_ne_bytes()[0])
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_terminated_once_and_never_cut() {
        assert_eq!(ascii(b"lm".to_vec(), 1, 2), Ok(b"lm\0".to_vec()));
        assert!(ascii(b"l\0m".to_vec(), 0, 9).unwrap_err().contains("NUL"));
        assert!(ascii(b"".to_vec(), 1, 9).unwrap_err().contains("at least 1"));
        assert!(ascii(b"abc".to_vec(), 0, 2).unwrap_err().contains("at most 2"));
        assert!(
            ascii("ä".as_bytes().to_vec(), 0, 9)
                .unwrap_err()
                .contains("ASCII")
        );
        assert_eq!(utf8("ä".as_bytes().to_vec(), 0, 2), Ok("ä\0".as_bytes().to_vec()));
        assert!(utf8(vec![b'a', 0xff], 0, 9).unwrap_err().contains("byte 1"));
        assert_eq!(utf16(vec![0x61], 0, 1), Ok(vec![0x61, 0]));
    }

    #[test]
    fn capacities_are_bounded() {
        assert_eq!(capacity(16, 16), Ok(16));
        assert!(capacity(u64::MAX, 16).is_err());
    }

    #[test]
    fn numbers_outside_of_their_bounds_are_refused() {
        assert_eq!(within(16, 16, 16), Ok(()));
        assert!(within(17, 0, 16).is_err());
        assert_eq!(multiple(32, 16), Ok(()));
        assert!(multiple(33, 16).is_err());
        let style = crate::DEBUGGER_SHOW_MEMORY_STYLE::DEBUGGER_SHOW_COMMAND_DT;
        assert!(one_of(style, &[]).unwrap_err().contains("dt"));
        assert_eq!(one_of(style, &[style]), Ok(()));
    }

    #[test]
    fn char_arrays_keep_their_terminator() {
        let mut target = [0; 4];
        fill_chars(&mut target, b"abc").unwrap();
        assert_eq!(chars(&target), "abc");
        assert!(
            fill_chars(&mut target, b"abcd")
                .unwrap_err()
                .contains("at most 3")
        );
        assert_eq!(until_nul(b"ab\0c".to_vec()), b"ab");
        assert_eq!(until_nul_utf16(vec![1, 0, 2]), [1]);
    }
}
