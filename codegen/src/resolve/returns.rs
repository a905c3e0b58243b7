//! What return values and status fields mean.

use std::collections::BTreeMap;

use super::scalar::{self, Site};
use super::{Context, codes, tools::did_you_mean};
use crate::annotations::{Body, Returns as Said, Status as SaidStatus};
use crate::catalog::Function as CFunction;
use crate::surface::{CType, Export, Output, OutputKind, Param, Pass, Returns, Status};

/// The meaning of the return value.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    c_function: &CFunction,
    export: &Export,
    body: &Body,
) -> Option<Returns> {
    let said = &body.returns;
    let void = export.returns == CType::Void;
    let spelled = &c_function.returns;
    match &said.value {
        Said::Nothing if void => Some(Returns::Nothing),
        Said::Nothing => {
            cx.fail(
                codes::RETURNS,
                said.place,
                format!("the function returns `{spelled}`, not nothing"),
                "say success, value, or ignored with the reason",
            );
            None
        }
        _ if void => {
            cx.fail(
                codes::RETURNS,
                said.place,
                "the function returns nothing",
                "write { \"is\": \"nothing\" }",
            );
            None
        }
        Said::NonZero | Said::Zero => {
            if export.returns.scalar().is_none() {
                cx.fail(
                    codes::RETURNS,
                    said.place,
                    format!("`{spelled}` cannot tell success"),
                    "only an integer can be zero or not",
                );
                return None;
            }
            Some(if matches!(said.value, Said::NonZero) {
                Returns::NonZero
            } else {
                Returns::Zero
            })
        }
        Said::Value { name, form, doc } => {
            let site = Site {
                ty: &export.returns,
                boolean: cx.types.is_boolean(spelled),
                bits: None,
                spelled: spelled.to_string(),
                place: form.place,
            };
            let form = scalar::output_form(cx, &site, Some(form))?;
            scalar::check_name(cx, &name.value, name.place);
            Some(Returns::Value(Output {
                name: name.value.clone(),
                doc: doc.clone(),
                kind: OutputKind::Scalar {
                    form,
                    ty: export.returns.clone(),
                },
            }))
        }
        Said::Ignored(reason) => Some(Returns::Ignored(reason.clone())),
    }
}

/// The name of a returned value must differ from those of the other results.
pub(super) fn check_names(cx: &mut Context<'_>, body: &Body, outputs: &[Output]) {
    let mut seen: BTreeMap<&str, ()> = outputs.iter().map(|output| (output.name.as_str(), ())).collect();
    if let Said::Value { name, .. } = &body.returns.value
        && seen.insert(&name.value, ()).is_some()
    {
        cx.fail(
            codes::NAME_TWICE,
            name.place,
            format!("two results are named `{}`", name.value),
            "give one of them another name",
        );
    }
}

/// The status field.
pub(super) fn status(
    cx: &mut Context<'_>,
    said: &SaidStatus,
    params: &[Param],
    outputs: &[Output],
) -> Option<Status> {
    let Some(param) = params.iter().find(|param| param.name == said.param.value) else {
        let help = did_you_mean(&said.param.value, params.iter().map(|param| param.name.as_str()));
        cx.fail(
            codes::STATUS,
            said.param.place,
            format!("the function has no parameter `{}`", said.param.value),
            help,
        );
        return None;
    };
    let Pass::Record { output, record, .. } = &param.pass else {
        cx.fail(
            codes::STATUS,
            said.param.place,
            format!("`{}` is no record that the call fills", said.param.value),
            "name a parameter of the role out_record or inout_record",
        );
        return None;
    };
    debug_assert!(*output < outputs.len());
    let record = cx.library.find_record(record)?;
    let field = record.fields.iter().find(|field| field.name == said.field.value);
    let Some(field) = field else {
        let help = did_you_mean(
            &said.field.value,
            record.fields.iter().map(|field| field.name.as_str()),
        );
        cx.fail(
            codes::STATUS,
            said.field.place,
            format!("`{}` has no field `{}`", record.name, said.field.value),
            help,
        );
        return None;
    };
    let fits = field.ty.scalar().is_some_and(|scalar| {
        field.bits.is_none() && !scalar.signed() && i128::from(said.ok.value) <= scalar.max()
    });
    if !fits {
        cx.fail(
            codes::STATUS,
            said.ok.place,
            format!(
                "{:#x} is no value of `{}.{}`",
                said.ok.value, record.name, field.name
            ),
            "name an unsigned integer field, and a value that it can have",
        );
        return None;
    }
    Some(Status {
        output: *output,
        field: field.name.clone(),
        ok: said.ok.value,
    })
}
