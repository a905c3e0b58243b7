//! What is passed for each parameter.

mod fit;
mod records;
mod relations;

use std::collections::BTreeMap;

use heck::ToSnakeCase;

use fit::{constant, is_bytes, is_constant, is_text, site, text_type};

use super::scalar::{self, Site};
use super::{Context, codes, tools::did_you_mean};
use crate::annotations::{At, Body, Place, Role};
use crate::catalog::{Function as CFunction, Param as CParam};
use crate::surface::{CType, Capacity, Export, Input, InputKind, Output, OutputKind, Param, Pass};

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
}
