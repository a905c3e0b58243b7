//! Facts of the surface in words, for the reference and for `explain`.

use super::{
    BlockingKind, CType, Capacity, Encoding, Form, Function, Input, InputKind, Library, Output, OutputKind,
    Pass, Returns, Text,
};

/// The type of an argument: what an agent writes.
pub fn argument(library: &Library, input: &Input) -> String {
    match &input.kind {
        InputKind::Scalar {
            form,
            ty,
            default,
            min,
            max,
            multiple_of,
            exclude,
        } => {
            let mut words = match form {
                Form::Address => "address".to_owned(),
                Form::Hex => "hex".to_owned(),
                Form::Boolean => "boolean".to_owned(),
                Form::Integer => format!("integer {min} to {max}"),
                Form::Enum => enumerators(library, ty, exclude),
            };
            if let Some(step) = multiple_of {
                words.push_str(&format!(", a multiple of {step}"));
            }
            if let Some(default) = default {
                words.push_str(&format!(
                    "; default {}",
                    default_value(library, *form, ty, *default)
                ));
            }
            words
        }
        InputKind::Text {
            encoding,
            min,
            max,
            nullable,
            ..
        } => {
            let unit = match encoding {
                Encoding::Ascii => "ASCII characters",
                Encoding::Utf8 => "bytes of UTF-8",
                Encoding::Utf16 => "UTF-16 units",
            };
            let optional = if *nullable { "; optional" } else { "" };
            format!("string of {min} to {max} {unit}{optional}")
        }
        InputKind::Bytes { max } => format!("hex digits of up to {max} bytes"),
    }
}

fn enumerators(library: &Library, ty: &CType, exclude: &[i128]) -> String {
    let CType::Enum(name) = ty else {
        return "enum".to_owned();
    };
    let names: Vec<&str> = library
        .find_enum(name)
        .into_iter()
        .flat_map(|item| &item.values)
        .filter(|value| !exclude.contains(&i128::from(value.value)))
        .map(|value| value.short.as_str())
        .collect();
    if names.len() > 12 {
        return format!("one of the {} names of {name}", names.len());
    }
    names.join(" | ")
}

fn default_value(library: &Library, form: Form, ty: &CType, value: i128) -> String {
    match (form, ty) {
        (Form::Address | Form::Hex, _) => format!("{value:#x}"),
        (Form::Boolean, _) => (value != 0).to_string(),
        (Form::Enum, CType::Enum(name)) => library
            .find_enum(name)
            .and_then(|item| item.by_value(value))
            .map_or_else(|| value.to_string(), |value| value.short.clone()),
        _ => value.to_string(),
    }
}

/// The type of a result.
pub fn result(output: &Output) -> String {
    match &output.kind {
        OutputKind::Scalar { form, ty } => match (form, ty) {
            (Form::Address, _) => "address".to_owned(),
            (Form::Hex, _) => "hex".to_owned(),
            (Form::Boolean, _) => "boolean".to_owned(),
            (Form::Integer, _) => "integer".to_owned(),
            (Form::Enum, CType::Enum(name)) => format!("name of {name}"),
            (Form::Enum, _) => "name".to_owned(),
        },
        OutputKind::Bytes => "hex digits".to_owned(),
        OutputKind::Text(_) => "string".to_owned(),
        OutputKind::Record(name) => format!("record {name}"),
    }
}

/// What is passed for a parameter.
pub fn pass(function: &Function, pass: &Pass) -> String {
    let input = |index: usize| {
        function
            .inputs
            .get(index)
            .map_or("?", |input| input.name.as_str())
    };
    let output = |index: usize| {
        function
            .outputs
            .get(index)
            .map_or("?", |output| output.name.as_str())
    };
    match pass {
        Pass::Value { input: index } => format!("argument {}", input(*index)),
        Pass::Constant { value, reason } => match value {
            Some(value) => format!("always {value}: {reason}"),
            None => format!("always NULL: {reason}"),
        },
        Pass::Length { input: index } => format!("byte length of {}", input(*index)),
        Pass::Buffer { input: index } => format!("argument {}, by address", input(*index)),
        Pass::OutBuffer {
            output: index,
            capacity,
            written,
        } => {
            let size = match capacity {
                Capacity::Fixed(size) => format!("{size} bytes"),
                Capacity::Input { input: index, max } => format!("{} bytes, at most {max}", input(*index)),
            };
            let written = written
                .and_then(|index| function.params.get(index))
                .map_or_else(String::new, |param| {
                    format!(", of which {} says how many count", param.name)
                });
            format!("result {}: a zeroed buffer of {size}{written}", output(*index))
        }
        Pass::OutValue { output: index } => format!("result {}", output(*index)),
        Pass::Record {
            output: index,
            record,
            sets,
        } => {
            let mut words = format!("result {}: a zeroed {record}", output(*index));
            for set in sets {
                words.push_str(&format!(", {} from {}", set.path.join("."), input(set.input)));
            }
            words
        }
    }
}

/// How the function tells that it succeeded.
pub fn success(function: &Function) -> String {
    let mut parts = Vec::new();
    match &function.returns {
        Returns::NonZero => parts.push("the return value is not 0".to_owned()),
        Returns::Zero => parts.push("the return value is 0".to_owned()),
        Returns::Value(_) | Returns::Ignored(_) | Returns::Nothing => {}
    }
    if let Some(status) = &function.status {
        parts.push(format!("{} is {:#x}", status.field, status.ok));
    }
    if function.text_errors && function.text != Text::None {
        parts.push("no line `err, …` was printed".to_owned());
    }
    if parts.is_empty() {
        parts.push("always".to_owned());
    }
    parts.join(", and ")
}

/// What must hold before the call.
pub fn requires(function: &Function) -> String {
    let requires = &function.requires;
    let mut parts = Vec::new();
    if !requires.mode.is_empty() {
        parts.push(format!("mode {}", requires.mode.join(" or ")));
    }
    if let Some(module) = &requires.module {
        parts.push(format!("module {module} loaded (locally)"));
    }
    if let Some(state) = &requires.state {
        parts.push(format!("target {state}"));
    }
    if requires.admin {
        parts.push("an elevated process".to_owned());
    }
    if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join(", ")
    }
}

/// How long the call can take.
pub fn wait(function: &Function) -> String {
    let blocking = &function.blocking;
    let kind = BlockingKind::NAMES
        .iter()
        .find(|(_, kind)| *kind == blocking.kind)
        .map_or("", |(name, _)| name);
    format!(
        "{kind}, {} at most: {}",
        milliseconds(blocking.deadline_ms),
        blocking.note
    )
}

/// A duration in its largest whole unit.
pub fn milliseconds(count: u64) -> String {
    match count {
        count if count > 0 && count.is_multiple_of(60_000) => format!("{} min", count / 60_000),
        count if count > 0 && count.is_multiple_of(1_000) => format!("{} s", count / 1_000),
        count => format!("{count} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_use_their_largest_whole_unit() {
        assert_eq!(milliseconds(90_000), "90 s");
        assert_eq!(milliseconds(3_600_000), "60 min");
        assert_eq!(milliseconds(1_500), "1500 ms");
    }
}
