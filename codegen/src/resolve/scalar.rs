//! Scalars: JSON forms, ranges and defaults against C types.

use super::{Context, codes, tools::did_you_mean};
use crate::annotations::{At, Literal, Place, ScalarRole};
use crate::surface::{CType, EnumType, Form, InputKind, Scalar};

/// Greatest integer that every JSON reader keeps.
const JSON_SAFE: i128 = 1 << 53;

/// One place in C that holds a scalar.
pub(super) struct Site<'a> {
    /// Resolved type.
    pub(super) ty: &'a CType,
    /// Declared as a truth value.
    pub(super) boolean: bool,
    /// Width, for a bit-field.
    pub(super) bits: Option<u32>,
    /// Type as C spells it.
    pub(super) spelled: String,
    /// Where to point at.
    pub(super) place: Place,
}

impl Site<'_> {
    fn range(&self) -> (i128, i128) {
        match (self.ty, self.bits) {
            (_, Some(bits)) => (0, (1i128 << bits.min(64)) - 1),
            (CType::Scalar(scalar), None) => (scalar.min(), scalar.max()),
            (CType::Enum(_), None) => (i128::from(i32::MIN), i128::from(i32::MAX)),
            _ => (0, i128::from(u64::MAX)),
        }
    }

    fn is_wide(&self) -> bool {
        self.range().1 > i128::from(u32::MAX)
    }

    /// The form that follows from the type alone.
    fn derived(&self) -> Option<Form> {
        Some(match self.ty {
            CType::Enum(_) => Form::Enum,
            CType::Scalar(_) if self.boolean || self.bits == Some(1) => Form::Boolean,
            CType::Scalar(_) if self.is_wide() => Form::Hex,
            CType::Scalar(_) => Form::Integer,
            CType::Pointer { to, .. } if **to == CType::Void => Form::Address,
            _ => return None,
        })
    }

    fn takes(&self, form: Form) -> bool {
        match (self.ty, form) {
            (CType::Enum(_), form) => form == Form::Enum,
            (CType::Pointer { .. }, form) => form == Form::Address && self.derived().is_some(),
            (CType::Scalar(_), Form::Enum) => false,
            (CType::Scalar(scalar), Form::Address) => *scalar == Scalar::U64 && self.bits.is_none(),
            (CType::Scalar(scalar), Form::Hex) => !scalar.signed(),
            (CType::Scalar(scalar), Form::Boolean) => {
                self.boolean || self.bits == Some(1) || scalar.bits() == 8
            }
            (CType::Scalar(_), Form::Integer) => true,
            _ => false,
        }
    }
}

/// The JSON form, said or derived.
fn form(cx: &mut Context<'_>, site: &Site<'_>, said: Option<&At<Form>>) -> Option<Form> {
    let Some(derived) = site.derived() else {
        cx.fail(
            codes::ROLE_TYPE,
            site.place,
            format!("`{}` is no scalar", site.spelled),
            "give the parameter a role that says what it points to",
        );
        return None;
    };
    let Some(said) = said else { return Some(derived) };
    if site.takes(said.value) {
        return Some(said.value);
    }
    cx.fail(
        codes::FORM_TYPE,
        said.place,
        format!("a `{}` does not travel in this form", site.spelled),
        "leave `as` out: the form follows from the type",
    );
    None
}

/// The JSON form of a result.
pub(super) fn output_form(cx: &mut Context<'_>, site: &Site<'_>, said: Option<&At<Form>>) -> Option<Form> {
    let form = form(cx, site, said)?;
    if form == Form::Integer && site.is_wide() {
        cx.fail(
            codes::FORM_TYPE,
            said.map_or(site.place, |said| said.place),
            format!(
                "a `{}` can pass 2^53, which JSON numbers do not keep",
                site.spelled
            ),
            "write \"as\": \"hex\" or \"address\"",
        );
        return None;
    }
    Some(form)
}

/// A name of an argument or result.
pub(super) fn check_name(cx: &mut Context<'_>, name: &str, place: Place) {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    let rest = name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !(first && rest) {
        cx.fail(
            codes::NAME_FORM,
            place,
            format!("the name `{name}` is not in snake_case"),
            "use a to z, 0 to 9 and _, and begin with a letter",
        );
    }
    if name == "output" {
        cx.fail(
            codes::NAME_FORM,
            place,
            "the name `output` is what captured text is called in every result",
            "choose another name",
        );
    }
}

/// The type of a scalar argument.
pub(super) fn input(cx: &mut Context<'_>, site: &Site<'_>, role: &ScalarRole) -> Option<InputKind> {
    let form = form(cx, site, role.form.as_ref())?;
    let (type_min, type_max) = site.range();
    let (type_min, type_max) = if form == Form::Boolean {
        (0, 1)
    } else {
        (type_min, type_max)
    };
    let mut sound = true;
    for bound in [&role.min, &role.max].into_iter().flatten() {
        if bound.value < type_min || bound.value > type_max {
            cx.fail(
                codes::OUT_OF_RANGE,
                bound.place,
                format!("{} is no value of `{}`", bound.value, site.spelled),
                format!("stay within {type_min} and {type_max}"),
            );
            sound = false;
        }
    }
    let min = role.min.as_ref().map_or(type_min, |bound| bound.value);
    let max = role.max.as_ref().map_or(type_max, |bound| bound.value);
    if let Some(bound) = role.min.as_ref().or(role.max.as_ref())
        && min > max
    {
        cx.fail(
            codes::OUT_OF_RANGE,
            bound.place,
            format!("no value lies between {min} and {max}"),
            "swap or correct `min` and `max`",
        );
        sound = false;
    }
    if form == Form::Integer && max > JSON_SAFE {
        cx.fail(
            codes::FORM_TYPE,
            role.form.as_ref().map_or(site.place, |said| said.place),
            format!("the argument can pass 2^53, which JSON numbers do not keep (up to {max})"),
            "write \"as\": \"hex\", or give a `max`",
        );
        sound = false;
    }
    let multiple_of = match &role.multiple_of {
        Some(step) if step.value < 2 => {
            cx.fail(
                codes::OUT_OF_RANGE,
                step.place,
                "a multiple of less than 2 says nothing",
                "leave `multiple_of` out",
            );
            sound = false;
            None
        }
        Some(step) => Some(step.value),
        None => None,
    };
    let exclude = excluded(cx, site, role)?;
    let default = match &role.default {
        None => None,
        Some(said) => {
            let value = default(cx, site, form, said)?;
            let inside = (min..=max).contains(&value)
                && multiple_of.is_none_or(|step| value % step == 0)
                && !exclude.contains(&value);
            if !inside {
                cx.fail(
                    codes::OUT_OF_RANGE,
                    said.place,
                    format!("the default {value} is no value that the argument takes"),
                    format!("it must lie within {min} and {max} and fit `multiple_of` and `exclude`"),
                );
                sound = false;
            }
            Some(value)
        }
    };
    sound.then(|| InputKind::Scalar {
        form,
        ty: site.ty.clone(),
        default,
        min,
        max,
        multiple_of,
        exclude,
    })
}

fn the_enum<'a>(cx: &Context<'a>, site: &Site<'_>) -> Option<&'a EnumType> {
    match site.ty {
        CType::Enum(name) => cx.library.find_enum(name),
        _ => None,
    }
}

fn enumerator(cx: &mut Context<'_>, item: &EnumType, name: &str, place: Place) -> Option<i128> {
    match item.by_name(name) {
        Some(value) => Some(i128::from(value.value)),
        None => {
            let help = did_you_mean(name, item.values.iter().map(|value| value.name.as_str()));
            cx.fail(
                codes::NOT_AN_ENUMERATOR,
                place,
                format!("`{name}` is no enumerator of `{}`", item.name),
                help,
            );
            None
        }
    }
}

fn excluded(cx: &mut Context<'_>, site: &Site<'_>, role: &ScalarRole) -> Option<Vec<i128>> {
    let Some(first) = role.enumerators().next() else {
        return Some(Vec::new());
    };
    let Some(item) = the_enum(cx, site) else {
        cx.fail(
            codes::FORM_TYPE,
            first.place,
            format!(
                "`{}` is no enum: nothing of it can be excluded or offered",
                site.spelled
            ),
            "use `min` and `max`",
        );
        return None;
    };
    let mut values = |names: &[At<String>]| -> Vec<i128> {
        let values = names.iter();
        values
            .filter_map(|name| enumerator(cx, item, &name.value, name.place))
            .collect()
    };
    let (offered, values) = (values(&role.offer), values(&role.exclude));
    for name in &role.offer {
        if let Some(other) = role.exclude.iter().find(|other| other.value == name.value) {
            cx.clash(
                codes::OFFERED_AND_EXCLUDED,
                other.place,
                name.place,
                format!("`{}` is both offered and excluded", name.value),
                "keep it in one of `offer` and `exclude`",
            );
        }
    }
    if offered.len() != role.offer.len() {
        return None;
    }
    if values.len() >= item.values.len() {
        cx.fail(
            codes::OUT_OF_RANGE,
            first.place,
            "every enumerator is excluded",
            "leave one, or make the parameter a constant",
        );
        return None;
    }
    (values.len() == role.exclude.len()).then_some(values)
}

fn default(cx: &mut Context<'_>, site: &Site<'_>, form: Form, said: &At<Literal>) -> Option<i128> {
    let value = match (form, &said.value) {
        (Form::Integer, Literal::Integer(value)) => Some(*value),
        (Form::Boolean, Literal::Boolean(value)) => Some(i128::from(*value)),
        (Form::Hex | Form::Address, Literal::Text(text)) => text
            .strip_prefix("0x")
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .map(i128::from),
        (Form::Enum, Literal::Text(name)) => {
            let item = the_enum(cx, site)?;
            return enumerator(cx, item, name, said.place);
        }
        _ => None,
    };
    if value.is_none() {
        let wanted = match form {
            Form::Integer => "a number",
            Form::Boolean => "true or false",
            Form::Hex | Form::Address => "a string \"0x…\"",
            Form::Enum => "the C name of an enumerator",
        };
        cx.fail(
            codes::WRONG_FORM,
            said.place,
            format!("the default of this argument is not {wanted}"),
            format!("write {wanted}"),
        );
    }
    value
}
