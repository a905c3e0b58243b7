//! Whether a role fits a C type.

use crate::annotations::{At, Place};
use crate::catalog::Param as CParam;
use crate::resolve::scalar::Site;
use crate::resolve::{Context, codes};
use crate::surface::{CType, Encoding, Scalar};

pub(super) fn site<'s>(cx: &Context<'_>, param: &CParam, ty: &'s CType, place: Place) -> Site<'s> {
    Site {
        ty,
        boolean: cx.types.is_boolean(&param.ty),
        bits: None,
        spelled: param.ty.to_string(),
        place,
    }
}

pub(super) fn constant(
    cx: &mut Context<'_>,
    param: &CParam,
    ty: &CType,
    value: &At<Option<i128>>,
) -> Option<()> {
    let fits = match (ty, value.value) {
        (CType::Pointer { .. }, None) => true,
        (CType::Scalar(scalar), Some(number)) => (scalar.min()..=scalar.max()).contains(&number),
        (CType::Enum(name), Some(number)) => cx
            .library
            .find_enum(name)
            .is_some_and(|item| item.by_value(number).is_some()),
        _ => false,
    };
    if !fits {
        cx.fail(
            codes::OUT_OF_RANGE,
            value.place,
            format!("the constant is no value of `{} {}`", param.ty, param.name),
            "write null for a pointer, a value of the type for a scalar, an enumerator's value for an enum",
        );
    }
    fits.then_some(())
}

pub(super) fn is_constant(ty: &CType) -> bool {
    matches!(ty, CType::Pointer { constant: true, .. })
}

pub(super) fn is_bytes(ty: &CType) -> bool {
    match ty.pointee() {
        Some(CType::Void) => true,
        Some(CType::Scalar(scalar)) => scalar.bits() == 8,
        _ => false,
    }
}

pub(super) fn is_text(ty: &CType, encoding: Encoding) -> bool {
    match (ty.pointee(), encoding) {
        (Some(CType::Scalar(scalar)), Encoding::Utf16) => *scalar == Scalar::U16,
        (Some(CType::Scalar(scalar)), _) => scalar.bits() == 8,
        _ => false,
    }
}

pub(super) fn text_type(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Utf16 => "a pointer to 16-bit characters",
        Encoding::Ascii | Encoding::Utf8 => "a pointer to characters",
    }
}
