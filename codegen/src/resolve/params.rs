//! What is passed for each parameter.

use std::collections::BTreeMap;

use heck::ToSnakeCase;

use super::scalar::{self, Site};
use super::{Context, codes, tools::did_you_mean};
use crate::annotations::{At, Body, Place, Role, ScalarRole, Size};
use crate::catalog::{Function as CFunction, Param as CParam};
use crate::surface::{
    CType, Capacity, Encoding, Export, FieldSet, Input, InputKind, Output, OutputKind, Param, Pass, Scalar,
};

/// Parameters with their arguments and results; `None` after a finding.
pub(super) type Resolved = (Vec<Param>, Vec<Input>, Vec<Output>);

/// Resolves the parameters of one function.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    c_function: &CFunction,
    export: &Export,
    body: &Body,
) -> Option<Resolved> {
    let before = cx.errors.len();
    for said in &body.params {
        if !c_function
            .params
            .iter()
            .any(|param| param.name == said.name.value)
        {
            let help = did_you_mean(
                &said.name.value,
                c_function.params.iter().map(|param| param.name.as_str()),
            );
            cx.fail(
                codes::PARAM_UNKNOWN,
                said.name.place,
                format!("`{}` has no parameter `{}`", c_function.name, said.name.value),
                help,
            );
        }
    }
    let mut builder = Builder {
        c_function,
        body,
        inputs: Vec::new(),
        outputs: Vec::new(),
        input_of: BTreeMap::new(),
        output_of: BTreeMap::new(),
        names: BTreeMap::new(),
    };
    let mut passes = Vec::new();
    let mut unreadable = false;
    for (index, (c_param, (_, ty))) in c_function.params.iter().zip(&export.params).enumerate() {
        match builder.role(c_param) {
            Said::Missing => missing(cx, c_function, c_param, ty, body.params_place),
            Said::Unreadable => unreadable = true,
            Said::Role(role) => {
                let pass = builder.first_pass(cx, index, c_param, ty, role);
                passes.push((index, pass));
            }
        }
    }
    if cx.errors.len() > before || unreadable {
        return None;
    }
    let mut params = Vec::new();
    for (index, pass) in passes {
        let c_param = &c_function.params[index];
        let pass = match builder.role(c_param) {
            Said::Role(role) => builder.second_pass(cx, role, pass?),
            _ => None,
        };
        params.push(Param {
            name: c_param.name.clone(),
            ty: export.params[index].1.clone(),
            pass: pass?,
        });
    }
    (cx.errors.len() == before).then_some((params, builder.inputs, builder.outputs))
}

fn missing(cx: &mut Context<'_>, c_function: &CFunction, param: &CParam, ty: &CType, place: Place) {
    if matches!(ty, CType::Pointer { .. }) {
        cx.fail(
            codes::POINTER_WITHOUT_ROLE,
            place,
            format!(
                "the pointer `{} {}` of `{}` has no role",
                param.ty, param.name, c_function.name
            ),
            format!("say in \"{}\" what it points to; nothing is guessed", param.name),
        );
    } else {
        cx.fail(
            codes::PARAM_MISSING,
            place,
            format!(
                "the parameter `{} {}` of `{}` is not annotated",
                param.ty, param.name, c_function.name
            ),
            format!("add \"{}\" with the role value, constant or length", param.name),
        );
    }
}

enum Said<'a> {
    Missing,
    Unreadable,
    Role(&'a At<Role>),
}

struct Builder<'a> {
    c_function: &'a CFunction,
    body: &'a Body,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Argument of each parameter.
    input_of: BTreeMap<usize, usize>,
    /// Result of each parameter.
    output_of: BTreeMap<usize, usize>,
    /// Names given so far: (is input, name).
    names: BTreeMap<(bool, String), Place>,
}

impl<'a> Builder<'a> {
    fn role(&self, param: &CParam) -> Said<'a> {
        match self.body.params.iter().find(|said| said.name.value == param.name) {
            None => Said::Missing,
            Some(said) => said.role.as_ref().map_or(Said::Unreadable, Said::Role),
        }
    }

    fn name(
        &mut self,
        cx: &mut Context<'_>,
        input: bool,
        said: Option<&At<String>>,
        c_name: &str,
        place: Place,
    ) -> String {
        let (name, place) = match said {
            Some(said) => (said.value.clone(), said.place),
            None => (c_name.to_snake_case(), place),
        };
        scalar::check_name(cx, &name, place);
        let kind = if input { "arguments" } else { "results" };
        match self.names.get(&(input, name.clone())).copied() {
            Some(first) => cx.clash(
                codes::NAME_TWICE,
                first,
                place,
                format!("two {kind} are named `{name}`"),
                "give one of them a `name` of its own",
            ),
            None => {
                self.names.insert((input, name.clone()), place);
            }
        }
        name
    }

    fn add_input(&mut self, index: usize, input: Input) -> usize {
        self.inputs.push(input);
        let number = self.inputs.len() - 1;
        self.input_of.insert(index, number);
        number
    }

    fn add_output(&mut self, index: usize, output: Output) -> usize {
        self.outputs.push(output);
        let number = self.outputs.len() - 1;
        self.output_of.insert(index, number);
        number
    }

    fn unfit(cx: &mut Context<'_>, param: &CParam, role: &At<Role>, wanted: &str) {
        cx.fail(
            codes::ROLE_TYPE,
            role.place,
            format!(
                "`{}` is a `{}`, and the role {} needs {wanted}",
                param.name,
                param.ty,
                role.value.name()
            ),
            "give it a role that fits its type",
        );
    }

    /// Everything but relations. Indices of other parameters are placeholders until [`Self::second_pass`].
    fn first_pass(
        &mut self,
        cx: &mut Context<'_>,
        index: usize,
        param: &CParam,
        ty: &CType,
        role: &At<Role>,
    ) -> Option<Pass> {
        match &role.value {
            Role::Value(said) => {
                let site = site(cx, param, ty, role.place);
                let kind = scalar::input(cx, &site, said);
                let name = self.name(cx, true, said.name.as_ref(), &param.name, role.place);
                let input = Input {
                    name,
                    doc: said.doc.clone(),
                    kind: kind?,
                };
                Some(Pass::Value {
                    input: self.add_input(index, input),
                })
            }
            Role::Constant { value, reason } => constant(cx, param, ty, value).map(|()| Pass::Constant {
                value: value.value,
                reason: reason.clone(),
            }),
            Role::Length { .. } => {
                if ty.scalar().is_none() {
                    Self::unfit(cx, param, role, "an integer");
                    return None;
                }
                Some(Pass::Length { input: 0 })
            }
            Role::Text {
                name,
                doc,
                encoding,
                min,
                max,
                nullable,
                pattern,
            } => {
                if !is_text(ty, encoding.value) {
                    Self::unfit(cx, param, role, text_type(encoding.value));
                    return None;
                }
                if *min > max.value {
                    cx.fail(
                        codes::OUT_OF_RANGE,
                        max.place,
                        format!("no text has at least {min} and at most {} bytes", max.value),
                        "swap or correct `min_bytes` and `max_bytes`",
                    );
                }
                let name = self.name(cx, true, name.as_ref(), &param.name, role.place);
                let kind = InputKind::Text {
                    encoding: encoding.value,
                    min: *min,
                    max: max.value,
                    nullable: *nullable,
                    pattern: pattern.as_ref().map(|pattern| pattern.value.clone()),
                };
                let doc = doc.clone();
                Some(Pass::Buffer {
                    input: self.add_input(index, Input { name, doc, kind }),
                })
            }
            Role::InBytes { name, doc, max, .. } => {
                if !is_bytes(ty) {
                    Self::unfit(cx, param, role, "a pointer to bytes or to void");
                    return None;
                }
                let name = self.name(cx, true, name.as_ref(), &param.name, role.place);
                let (doc, kind) = (doc.clone(), InputKind::Bytes { max: *max });
                Some(Pass::Buffer {
                    input: self.add_input(index, Input { name, doc, kind }),
                })
            }
            Role::OutBytes { name, doc, max, .. } => {
                if !is_bytes(ty) || is_constant(ty) {
                    Self::unfit(cx, param, role, "a pointer to bytes or to void that is not const");
                    return None;
                }
                let name = self.name(cx, false, name.as_ref(), &param.name, role.place);
                let (doc, kind) = (doc.clone(), OutputKind::Bytes);
                Some(Pass::OutBuffer {
                    output: self.add_output(index, Output { name, doc, kind }),
                    capacity: Capacity::Fixed(*max),
                    written: None,
                })
            }
            Role::OutText {
                name, doc, encoding, ..
            } => {
                if !is_text(ty, encoding.value) || is_constant(ty) {
                    Self::unfit(cx, param, role, text_type(encoding.value));
                    return None;
                }
                let name = self.name(cx, false, name.as_ref(), &param.name, role.place);
                let (doc, kind) = (doc.clone(), OutputKind::Text(encoding.value));
                Some(Pass::OutBuffer {
                    output: self.add_output(index, Output { name, doc, kind }),
                    capacity: Capacity::Fixed(0),
                    written: None,
                })
            }
            Role::OutValue { name, doc, form } => {
                let (Some(target), Some(spelled)) = (ty.pointee(), cx.types.pointee(&param.ty)) else {
                    Self::unfit(cx, param, role, "a pointer to a scalar");
                    return None;
                };
                if is_constant(ty) || !matches!(target, CType::Scalar(_) | CType::Enum(_)) {
                    Self::unfit(cx, param, role, "a pointer to a scalar that is not const");
                    return None;
                }
                let site = Site {
                    ty: target,
                    boolean: cx.types.is_boolean(spelled),
                    bits: None,
                    spelled: spelled.to_string(),
                    place: role.place,
                };
                let form = scalar::output_form(cx, &site, form.as_ref());
                let name = self.name(cx, false, name.as_ref(), &param.name, role.place);
                let kind = OutputKind::Scalar {
                    form: form?,
                    ty: target.clone(),
                };
                let doc = doc.clone();
                Some(Pass::OutValue {
                    output: self.add_output(index, Output { name, doc, kind }),
                })
            }
            Role::OutRecord { name, doc } => self.record(cx, index, param, ty, role, name.as_ref(), doc, &[]),
            Role::InOutRecord { name, doc, inputs } => {
                self.record(cx, index, param, ty, role, name.as_ref(), doc, inputs)
            }
            Role::Callback => {
                cx.fail(
                    codes::ROLE_TYPE,
                    role.place,
                    format!("`{}` is a callback: no tool can pass one", param.name),
                    "exclude the function with the kind engine",
                );
                None
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of two roles that end in the same record"
    )]
    fn record(
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

    fn field(
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

    fn relation(&self, cx: &mut Context<'_>, name: &str, place: Place) -> Option<usize> {
        let found = self.c_function.params.iter().position(|param| param.name == name);
        if found.is_none() {
            let help = did_you_mean(
                name,
                self.c_function.params.iter().map(|param| param.name.as_str()),
            );
            cx.fail(
                codes::RELATION_MISSING,
                place,
                format!("`{}` has no parameter `{name}`", self.c_function.name),
                help,
            );
        }
        found
    }

    fn other(&self, index: usize) -> Option<&'a Role> {
        match self.role(&self.c_function.params[index]) {
            Said::Role(role) => Some(&role.value),
            _ => None,
        }
    }

    /// Relations between parameters.
    fn second_pass(&mut self, cx: &mut Context<'_>, role: &At<Role>, pass: Pass) -> Option<Pass> {
        match (&role.value, pass) {
            (Role::Length { of }, _) => {
                let other = self.relation(cx, &of.value, of.place)?;
                if !matches!(self.other(other), Some(Role::Text { .. } | Role::InBytes { .. })) {
                    cx.fail(
                        codes::RELATION_ROLE,
                        of.place,
                        format!("`{}` is no string and no input bytes", of.value),
                        "name the parameter whose length this is",
                    );
                    return None;
                }
                Some(Pass::Length {
                    input: *self.input_of.get(&other)?,
                })
            }
            (Role::InBytes { length, .. }, pass) => {
                let other = self.relation(cx, &length.value, length.place)?;
                if !matches!(self.other(other), Some(Role::Length { .. })) {
                    cx.fail(
                        codes::RELATION_ROLE,
                        length.place,
                        format!("`{}` is no length", length.value),
                        "give that parameter the role length, with `of` naming this one",
                    );
                    return None;
                }
                Some(pass)
            }
            (
                Role::OutBytes {
                    capacity,
                    written,
                    max,
                    ..
                },
                Pass::OutBuffer { output, .. },
            ) => {
                let capacity = self.capacity(cx, capacity, Some(*max))?;
                let written = match written {
                    None => None,
                    Some(written) => Some(self.written(cx, written)?),
                };
                Some(Pass::OutBuffer {
                    output,
                    capacity,
                    written,
                })
            }
            (Role::OutText { capacity, .. }, Pass::OutBuffer { output, .. }) => Some(Pass::OutBuffer {
                output,
                capacity: self.capacity(cx, capacity, None)?,
                written: None,
            }),
            (_, pass) => Some(pass),
        }
    }

    fn written(&self, cx: &mut Context<'_>, written: &At<String>) -> Option<usize> {
        let other = self.relation(cx, &written.value, written.place)?;
        let integer = self
            .output_of
            .get(&other)
            .and_then(|output| self.outputs.get(*output))
            .is_some_and(|output| {
                matches!(
                    &output.kind,
                    OutputKind::Scalar {
                        ty: CType::Scalar(_),
                        ..
                    }
                )
            });
        if !integer {
            cx.fail(
                codes::RELATION_ROLE,
                written.place,
                format!("`{}` is no integer that the call fills", written.value),
                "name a parameter of the role out_value",
            );
            return None;
        }
        Some(other)
    }

    fn capacity(&mut self, cx: &mut Context<'_>, said: &At<Size>, limit: Option<u64>) -> Option<Capacity> {
        match &said.value {
            Size::Fixed(count) => {
                if *count == 0 || limit.is_some_and(|limit| *count > limit) {
                    cx.fail(
                        codes::OUT_OF_RANGE,
                        said.place,
                        format!("a buffer of {count} bytes is none that `max_bytes` allows"),
                        "correct `capacity` or `max_bytes`",
                    );
                    return None;
                }
                Some(Capacity::Fixed(*count))
            }
            Size::Param(name) => {
                let other = self.relation(cx, name, said.place)?;
                let input = self.input_of.get(&other).copied();
                let kind = input
                    .and_then(|input| self.inputs.get_mut(input))
                    .map(|input| &mut input.kind);
                match (input, kind) {
                    (
                        Some(input),
                        Some(InputKind::Scalar {
                            ty: CType::Scalar(_),
                            min,
                            max,
                            ..
                        }),
                    ) if *min >= 0 => {
                        let limit = limit.unwrap_or(u64::MAX);
                        *max = (*max).min(i128::from(limit));
                        let max = u64::try_from(*max).unwrap_or(limit);
                        Some(Capacity::Input { input, max })
                    }
                    _ => {
                        cx.fail(
                            codes::RELATION_ROLE,
                            said.place,
                            format!("`{name}` is no integer argument"),
                            "name a parameter of the role value, or write a number",
                        );
                        None
                    }
                }
            }
        }
    }
}

fn site<'s>(cx: &Context<'_>, param: &CParam, ty: &'s CType, place: Place) -> Site<'s> {
    Site {
        ty,
        boolean: cx.types.is_boolean(&param.ty),
        bits: None,
        spelled: param.ty.to_string(),
        place,
    }
}

fn constant(cx: &mut Context<'_>, param: &CParam, ty: &CType, value: &At<Option<i128>>) -> Option<()> {
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

fn is_constant(ty: &CType) -> bool {
    matches!(ty, CType::Pointer { constant: true, .. })
}

fn is_bytes(ty: &CType) -> bool {
    match ty.pointee() {
        Some(CType::Void) => true,
        Some(CType::Scalar(scalar)) => scalar.bits() == 8,
        _ => false,
    }
}

fn is_text(ty: &CType, encoding: Encoding) -> bool {
    match (ty.pointee(), encoding) {
        (Some(CType::Scalar(scalar)), Encoding::Utf16) => *scalar == Scalar::U16,
        (Some(CType::Scalar(scalar)), _) => scalar.bits() == 8,
        _ => false,
    }
}

fn text_type(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Utf16 => "a pointer to 16-bit characters",
        Encoding::Ascii | Encoding::Utf8 => "a pointer to characters",
    }
}
