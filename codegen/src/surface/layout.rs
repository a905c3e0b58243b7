//! How a C record is declared in Rust, so that every member lies where C puts it and no byte is undefined.
//!
//! Padding becomes named bytes, and bit-fields become their storage unit: a record without hidden bytes can be
//! viewed as bytes and made from bytes.

use crate::catalog::{Record, RecordKind};
use crate::surface::ctype::{Abi, CType, Types};

/// Where a record's bytes are, for one ABI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// `sizeof` in bytes.
    pub size: u64,
    /// Alignment that C asks for.
    pub align: u64,
    /// `repr` that yields it.
    pub repr: Repr,
    /// Rust members in order; for a union all start at 0.
    pub members: Vec<Member>,
    /// Bit-fields, read from the storage members.
    pub bit_fields: Vec<BitField>,
}

/// The `repr` attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repr {
    /// `repr(C)`
    C,
    /// `repr(C, align(n))`
    Align(u64),
    /// `repr(C, packed(n))`
    Packed(u64),
}

/// One member of the Rust declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Name in Rust before keyword escaping.
    pub name: String,
    /// Type.
    pub ty: CType,
    /// Offset in bytes.
    pub offset: u64,
    /// What it is.
    pub kind: MemberKind,
}

/// What a Rust member stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind {
    /// The C member of that index.
    Field(usize),
    /// The storage of one or more bit-fields.
    Storage,
    /// Bytes that C leaves undefined.
    Padding,
}

/// One bit-field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitField {
    /// C name.
    pub name: String,
    /// Declared type.
    pub ty: CType,
    /// Name of the storage member.
    pub storage: String,
    /// First bit in the storage.
    pub start: u64,
    /// Number of bits, at most 64.
    pub width: u32,
}

/// Lays out records of one catalog.
pub struct Layouts<'a> {
    types: &'a Types<'a>,
    nested: std::collections::BTreeSet<String>,
}

impl<'a> Layouts<'a> {
    /// For the records behind `types`; `all` are the catalog's records.
    ///
    /// # Errors
    /// The reason, when a member's type cannot be resolved.
    pub fn new(types: &'a Types<'a>, all: &[Record]) -> Result<Self, String> {
        let mut nested = std::collections::BTreeSet::new();
        for field in all.iter().flat_map(|record| &record.fields) {
            let mut ty = types.resolve(&field.ty)?;
            while let CType::Array { of, .. } = ty {
                ty = *of;
            }
            if let CType::Record(name) = ty {
                nested.insert(name);
            }
        }
        Ok(Self { types, nested })
    }

    /// `sizeof` of a type.
    ///
    /// # Errors
    /// The reason, for `void` and unknown records.
    pub fn size_of(&self, ty: &CType, abi: Abi) -> Result<u64, String> {
        Ok(match ty {
            CType::Void => return Err("`void` has no size".to_owned()),
            CType::Scalar(scalar) => scalar.size(abi),
            CType::Enum(_) => 4,
            CType::Pointer { .. } => 8,
            CType::Array { of, len } => self.size_of(of, abi)? * len,
            CType::Record(name) => {
                let record = self.find(name)?;
                match (&record.sysv, abi) {
                    (Some(sysv), Abi::SysV) => sysv.size,
                    _ => record.size,
                }
            }
        })
    }

    fn find(&self, name: &str) -> Result<&'a Record, String> {
        self.types
            .record(name)
            .ok_or_else(|| format!("the record `{name}` is not in the catalog"))
    }

    /// Alignment that the Rust declaration of a type has.
    fn rust_align_of(&self, ty: &CType, abi: Abi) -> Result<u64, String> {
        Ok(match ty {
            CType::Void => return Err("`void` has no alignment".to_owned()),
            CType::Scalar(scalar) => scalar.size(abi),
            CType::Enum(_) => 4,
            CType::Pointer { .. } => 8,
            CType::Array { of, .. } => self.rust_align_of(of, abi)?,
            CType::Record(name) => {
                let layout = self.layout(self.find(name)?, abi)?;
                match layout.repr {
                    Repr::Packed(align) | Repr::Align(align) => align,
                    Repr::C => self.natural_align(&layout.members, abi)?,
                }
            }
        })
    }

    fn natural_align(&self, members: &[Member], abi: Abi) -> Result<u64, String> {
        members.iter().try_fold(1, |align, member| {
            Ok(align.max(self.rust_align_of(&member.ty, abi)?))
        })
    }

    /// The layout of `record` under `abi`.
    ///
    /// # Errors
    /// The reason, when the catalog's facts contradict each other or need a form that is not supported.
    pub fn layout(&self, record: &Record, abi: Abi) -> Result<Layout, String> {
        let alternative = match abi {
            Abi::SysV => record.sysv.as_ref(),
            Abi::Msvc => None,
        };
        let (size, align) =
            alternative.map_or((record.size, record.align), |other| (other.size, other.align));
        let mut layout = Layout {
            size,
            align,
            repr: Repr::C,
            members: Vec::new(),
            bit_fields: Vec::new(),
        };
        let places: Vec<u64> = match alternative {
            Some(other) if other.bit_offsets.len() == record.fields.len() => other.bit_offsets.clone(),
            Some(_) => {
                return Err(format!(
                    "`{}` has another number of members under System V",
                    record.name
                ));
            }
            None => record
                .fields
                .iter()
                .map(|field| field.offset * 8 + field.bits.map_or(0, |bits| u64::from(bits.start)))
                .collect(),
        };
        let mut index = 0;
        let mut end = 0;
        while index < record.fields.len() {
            let run = self.place_members(record, abi, &places, index, &mut layout, &mut end)?;
            index += run;
        }
        if record.kind == RecordKind::Struct {
            pad(&mut layout.members, end, size, &record.name)?;
        } else if end < size {
            layout.members.push(padding(layout.members.len(), 0, size));
        } else if end > size {
            return Err(format!("a member of `{}` is larger than the union", record.name));
        }
        layout.repr = self.repr(record, &layout, abi)?;
        Ok(layout)
    }

    /// Adds the member at `index`, or the run of bit-fields that starts there. Returns the number of C members.
    fn place_members(
        &self,
        record: &Record,
        abi: Abi,
        places: &[u64],
        index: usize,
        layout: &mut Layout,
        end: &mut u64,
    ) -> Result<usize, String> {
        let field = &record.fields[index];
        let ty = self.types.resolve(&field.ty)?;
        let is_union = record.kind == RecordKind::Union;
        let Some(_) = field.bits else {
            if !places[index].is_multiple_of(8) {
                return Err(format!("`{}.{}` is not at a byte", record.name, field.name));
            }
            let offset = places[index] / 8;
            if !is_union {
                pad(&mut layout.members, *end, offset, &record.name)?;
            }
            let size = self.size_of(&ty, abi)?;
            *end = if is_union { (*end).max(size) } else { offset + size };
            let name = if field.name.is_empty() {
                format!("anonymous_{index}")
            } else {
                field.name.clone()
            };
            layout.members.push(Member {
                name,
                ty,
                offset,
                kind: MemberKind::Field(index),
            });
            return Ok(1);
        };
        // MSVC gives a run of bit-fields of one type one storage unit. Where System V differs, the run's bytes
        // are shared with their neighbours, so the storage is exactly the bytes that the run touches.
        let exact = abi == Abi::SysV && record.sysv.is_some();
        let run = record.fields[index..]
            .iter()
            .take_while(|next| next.bits.is_some() && (exact || next.offset == field.offset))
            .count();
        let run = if is_union { 1 } else { run };
        let widths = |at: usize| record.fields[at].bits.map_or(0, |bits| u64::from(bits.width));
        let last = places[index + run - 1] + widths(index + run - 1);
        let (offset, storage, length) = if exact {
            let first = places[index] / 8;
            let length = last.div_ceil(8) - first;
            (first, byte_array(length), length)
        } else {
            let size = self.size_of(&ty, abi)?;
            (field.offset, ty, size)
        };
        if last > (offset + length) * 8 {
            return Err(format!(
                "a bit-field of `{}` passes the end of its storage",
                record.name
            ));
        }
        let storage_name = format!("bits_{offset}");
        if !is_union {
            pad(&mut layout.members, *end, offset, &record.name)?;
        }
        *end = if is_union {
            (*end).max(length)
        } else {
            offset + length
        };
        for (member, place) in record.fields.iter().zip(places).skip(index).take(run) {
            let ty = self.types.resolve(&member.ty)?;
            if ty.scalar().is_none_or(super::Scalar::signed) {
                return Err(format!(
                    "the bit-field `{}.{}` is not of an unsigned integer type",
                    record.name, member.name
                ));
            }
            layout.bit_fields.push(BitField {
                name: member.name.clone(),
                ty,
                storage: storage_name.clone(),
                start: place - offset * 8,
                width: member.bits.map_or(0, |bits| bits.width),
            });
        }
        layout.members.push(Member {
            name: storage_name,
            ty: storage,
            offset,
            kind: MemberKind::Storage,
        });
        Ok(run)
    }

    fn repr(&self, record: &Record, layout: &Layout, abi: Abi) -> Result<Repr, String> {
        let natural = self.natural_align(&layout.members, abi)?;
        let mut placed = true;
        let mut end = 0u64;
        for member in &layout.members {
            let align = self.rust_align_of(&member.ty, abi)?;
            let size = self.size_of(&member.ty, abi)?;
            if record.kind == RecordKind::Union {
                end = end.max(size);
                continue;
            }
            placed &= end.next_multiple_of(align) == member.offset;
            end = member.offset + size;
        }
        placed &= end.next_multiple_of(natural) == layout.size;
        if placed && natural == layout.align {
            return Ok(Repr::C);
        }
        if placed && natural < layout.align {
            return Ok(Repr::Align(layout.align));
        }
        // An alignment above what C asks for is harmless in a record that is no member of another one, and keeps
        // references to its members legal.
        if placed && !self.nested.contains(&record.name) {
            return Ok(Repr::C);
        }
        for member in &layout.members {
            let align = self.rust_align_of(&member.ty, abi)?.min(layout.align);
            if !member.offset.is_multiple_of(align) {
                return Err(format!(
                    "`{}` cannot be declared: `{}` is misaligned",
                    record.name, member.name
                ));
            }
        }
        Ok(Repr::Packed(layout.align))
    }
}

fn byte_array(len: u64) -> CType {
    CType::Array {
        of: Box::new(CType::Scalar(super::ctype::Scalar::U8)),
        len,
    }
}

fn padding(number: usize, offset: u64, len: u64) -> Member {
    Member {
        name: format!("padding_{number}"),
        ty: byte_array(len),
        offset,
        kind: MemberKind::Padding,
    }
}

fn pad(members: &mut Vec<Member>, from: u64, to: u64, record: &str) -> Result<(), String> {
    match to.checked_sub(from) {
        None => Err(format!("members of `{record}` overlap at byte {to}")),
        Some(0) => Ok(()),
        Some(len) => {
            members.push(padding(members.len(), from, len));
            Ok(())
        }
    }
}
