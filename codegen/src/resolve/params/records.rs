//! Records: results that can take arguments in some of their fields.

use super::Builder;
use super::fit::is_constant;
use crate::annotations::{At, Role, ScalarRole};
use crate::catalog::Param as CParam;
use crate::resolve::scalar::{self, Site};
use crate::resolve::tools::did_you_mean;
use crate::resolve::{Context, codes};
use crate::surface::{CType, Encoding, FieldSet, Input, InputKind, Output, OutputKind, Pass, Scalar};

impl Builder<'_> {
    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of two roles that end in the same record"
    )]
    pub(super) fn record(
        &mut self,
        cx: &mut Context<'_>,
        index: usize,
        param: &CParam,
        ty: &CType,
        role: &At<Role>,
        name: Option<&At<String>>,
        doc: &str,
        said: &[(At<String>, ScalarRole)],
    ) -> Option<Pass> {
        let Some(CType::Record(record)) = ty.pointee().filter(|_| !is_constant(ty)) else {
            Self::unfit(cx, param, role, "a pointer to a record that is not const");
            return None;
        };
        if !cx.library.find_record(record)?.plain {
            cx.fail(
                codes::RECORD_POINTERS,
                role.place,
                format!("`{record}` holds pointers or `long`s: its bytes mean nothing in another process"),
                "pass NULL as a constant, or exclude the function",
            );
            return None;
        }
        let mut sets = Vec::new();
        for (path, said) in said {
            sets.push(self.field(cx, record, path, said));
        }
        let name = self.name(cx, false, name, &param.name, role.place);
        let output = self.add_output(
            index,
            Output {
                name,
                doc: doc.to_owned(),
                kind: OutputKind::Record(record.clone()),
            },
        );
        Some(Pass::Record {
            output,
            record: record.clone(),
            sets: sets.into_iter().collect::<Option<_>>()?,
        })
    }

    pub(super) fn field(
        &mut self,
        cx: &mut Context<'_>,
        record: &str,
        path: &At<String>,
        said: &ScalarRole,
    ) -> Option<FieldSet> {
        let library = cx.library;
        let steps: Vec<&str> = path.value.split('.').collect();
        let mut record = library.find_record(record)?;
        let mut found = None;
        for (depth, step) in steps.iter().enumerate() {
            let Some(field) = record.fields.iter().find(|field| field.name == *step) else {
                let help = did_you_mean(step, record.fields.iter().map(|field| field.name.as_str()));
                cx.fail(
                    codes::FIELD,
                    path.place,
                    format!("`{}` has no field `{step}`", record.name),
                    help,
                );
                return None;
            };
            if depth + 1 == steps.len() {
                found = Some(field);
            } else if let CType::Record(inner) = &field.ty {
                record = library.find_record(inner)?;
            } else {
                cx.fail(
                    codes::FIELD,
                    path.place,
                    format!("`{}.{step}` is no record", record.name),
                    "end the path there",
                );
                return None;
            }
        }
        let field = found?;
        let last = steps.last().copied().unwrap_or_default();
        let chars = match &field.ty {
            CType::Array { of, len } if **of == CType::Scalar(Scalar::Char) && *len > 0 => Some(*len),
            _ => None,
        };
        let kind = if let Some(len) = chars {
            Some(InputKind::Text {
                encoding: Encoding::Utf8,
                min: 0,
                max: len - 1,
                nullable: true,
                pattern: None,
            })
        } else {
            let site = Site {
                ty: &field.ty,
                boolean: field.boolean,
                bits: field.bits.map(|bits| bits.width),
                spelled: format!("{}.{last}", record.name),
                place: path.place,
            };
            scalar::input(cx, &site, said)
        };
        let name = self.name(cx, true, said.name.as_ref(), last, path.place);
        self.inputs.push(Input {
            name,
            doc: said.doc.clone(),
            kind: kind?,
        });
        Some(FieldSet {
            path: steps.iter().map(|step| (*step).to_owned()).collect(),
            input: self.inputs.len() - 1,
            ty: field.ty.clone(),
            bits: field.bits.map(|bits| bits.width),
        })
    }
}
