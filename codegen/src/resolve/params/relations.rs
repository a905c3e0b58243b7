//! What parameters say about each other: lengths, capacities, written counts.

use super::{Builder, Said};
use crate::annotations::{At, Place, Role, Size};
use crate::resolve::tools::did_you_mean;
use crate::resolve::{Context, codes};
use crate::surface::{CType, Capacity, InputKind, OutputKind, Pass};

impl<'a> Builder<'a> {
    pub(super) fn relation(&self, cx: &mut Context<'_>, name: &str, place: Place) -> Option<usize> {
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

    pub(super) fn other(&self, index: usize) -> Option<&'a Role> {
        match self.role(&self.c_function.params[index]) {
            Said::Role(role) => Some(&role.value),
            _ => None,
        }
    }

    /// Relations between parameters.
    pub(super) fn second_pass(&mut self, cx: &mut Context<'_>, role: &At<Role>, pass: Pass) -> Option<Pass> {
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

    pub(super) fn written(&self, cx: &mut Context<'_>, written: &At<String>) -> Option<usize> {
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

    pub(super) fn capacity(
        &mut self,
        cx: &mut Context<'_>,
        said: &At<Size>,
        limit: Option<u64>,
    ) -> Option<Capacity> {
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
