//! Enumerators and members of records that have other numbers and places in another SDK, paired by name.

use std::collections::{BTreeMap, BTreeSet};

use super::fit::Abi;
use super::reach::{Difference, Reach, difference};
use super::{Context, layout, values};
use crate::catalog::{Field, Record, RecordKind, Type};

/// Most pieces that a record is cut into; HyperDbg's largest needs a few hundred.
const MAX_PIECES: usize = 20_000;
/// The largest record of another SDK that is made room for; HyperDbg's largest has 3232 bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The strictest alignment that is made room for.
const MAX_ALIGN: u64 = 16;
/// Deepest nesting of records.
const MAX_DEPTH: u32 = 32;

/// Numbers of one enum that differ or are gone: ours, and the library's.
pub type Numbers = Vec<(i64, Option<i64>)>;

/// How to speak to a library whose numbers and places are others. What is not in here is as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relocation {
    /// Every number of each enum of which one moved or is gone.
    pub enums: BTreeMap<String, Numbers>,
    /// Records that lie otherwise, or that hold such an enum.
    pub records: BTreeMap<String, Placement>,
}

/// Where the parts of a record lie in a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// `sizeof` there, in bytes.
    pub size: u64,
    /// What to copy. Members that only the library knows are in none.
    pub pieces: Vec<Piece>,
    /// Members that only the library knows.
    pub unknown: Vec<String>,
}

/// A run of bits that is the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// First bit in the record as we were built for it; bit 0 is the least significant of the first byte.
    pub here: u64,
    /// First bit in the library's record.
    pub there: u64,
    /// Number of bits.
    pub bits: u64,
    /// The enum by which a value must be translated.
    pub names: Option<String>,
}

/// What became of a record.
pub(super) enum Standing {
    /// Nothing, as far as this program hands it over: a record that holds pointers never crosses processes.
    Same,
    /// It can be translated.
    Moved(Placement),
    /// It cannot, with the reason.
    Cannot(String),
}

/// Numbers of all enums of both sides that are not all the same. An enumerator is found again by its name, or by its
/// number where that has a name that came for one that went.
pub(super) fn enums(cx: &Context<'_>) -> BTreeMap<String, Numbers> {
    let mut moved = BTreeMap::new();
    for old in &cx.old.catalog.enums {
        let Some(new) = cx.new_reach.find_enum(&old.name) else {
            continue;
        };
        let changes = values::changes(old, new);
        if changes.moved.is_empty() && changes.removed.is_empty() {
            continue;
        }
        let ours: BTreeSet<&str> = old.values.iter().map(|value| value.name.as_str()).collect();
        let numbers = old.values.iter().map(|value| {
            let named = new.values.iter().find(|other| other.name == value.name);
            let twin = || {
                new.values
                    .iter()
                    .find(|other| other.value == value.value && !ours.contains(other.name.as_str()))
            };
            (value.value, named.or_else(twin).map(|other| other.value))
        });
        moved.insert(old.name.clone(), numbers.collect());
    }
    moved
}

/// Pairs one record's members.
pub(super) fn record(
    cx: &Context<'_>,
    old: &Record,
    abi: Abi,
    enums: &BTreeMap<String, Numbers>,
) -> Standing {
    let Some(new) = cx.new_reach.record(&old.name) else {
        return Standing::Same;
    };
    let mut pairing = Pairing {
        old: &cx.old_reach,
        new: &cx.new_reach,
        abi,
        enums,
        pieces: Vec::new(),
        unknown: Vec::new(),
    };
    if !pairing.is_plain(&Type::named(&old.name), 0) {
        return Standing::Same;
    }
    if pairing.is_same(old, new, 0) {
        return Standing::Same;
    }
    let ((size, _), (new_size, new_align)) = (extent(old, abi), extent(new, abi));
    if new_size > MAX_BYTES || new_align > MAX_ALIGN {
        return Standing::Cannot("it is larger, or aligned stricter, than any record of HyperDbg".to_owned());
    }
    if let Err(why) = pairing.records(old, new, (0, 0), 0) {
        return Standing::Cannot(why);
    }
    let pieces = merge(pairing.pieces);
    let whole = [Piece {
        here: 0,
        there: 0,
        bits: size * 8,
        names: None,
    }];
    match size == new_size && pieces == whole {
        true => Standing::Same,
        false => Standing::Moved(Placement {
            size: new_size,
            pieces,
            unknown: layout::shorten(pairing.unknown),
        }),
    }
}

/// Size and alignment.
fn extent(record: &Record, abi: Abi) -> (u64, u64) {
    match (&record.sysv, abi) {
        (Some(sysv), Abi::SystemV) => (sysv.size, sysv.align),
        _ => (record.size, record.align),
    }
}

/// First bit of each member.
fn starts(record: &Record, abi: Abi) -> Vec<u64> {
    match (&record.sysv, abi) {
        (Some(sysv), Abi::SystemV) => sysv.bit_offsets.clone(),
        _ => {
            let start = |field: &Field| field.offset * 8 + field.bits.map_or(0, |bits| u64::from(bits.start));
            record.fields.iter().map(start).collect()
        }
    }
}

/// Joins pieces that follow each other on both sides.
fn merge(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_by_key(|piece| piece.here);
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        match merged.last_mut() {
            Some(last)
                if last.names.is_none()
                    && piece.names.is_none()
                    && last.here + last.bits == piece.here
                    && last.there + last.bits == piece.there =>
            {
                last.bits += piece.bits;
            }
            _ => merged.push(piece),
        }
    }
    merged
}

struct Pairing<'a> {
    old: &'a Reach<'a>,
    new: &'a Reach<'a>,
    abi: Abi,
    enums: &'a BTreeMap<String, Numbers>,
    pieces: Vec<Piece>,
    unknown: Vec<String>,
}

impl Pairing<'_> {
    /// Whether nothing in a type of ours is a pointer, or has another size on another system.
    fn is_plain(&self, ty: &Type, depth: u32) -> bool {
        match self.old.plain(ty) {
            Type::Pointer { .. } => false,
            Type::Array { of, .. } => self.is_plain(&of, depth),
            Type::Named(name) => match self.old.record(&name) {
                Some(record) if depth < MAX_DEPTH => record
                    .fields
                    .iter()
                    .all(|field| self.is_plain(&field.ty, depth + 1)),
                Some(_) => false,
                None => {
                    let ty = Type::named(&name);
                    !matches!(name.as_str(), "long" | "unsigned long")
                        && self.old.integer_width(&ty).is_some()
                }
            },
        }
    }

    /// Whether two records are the same to the last bit, with all that they hold.
    fn is_same(&self, old: &Record, new: &Record, depth: u32) -> bool {
        depth < MAX_DEPTH
            && old.kind == new.kind
            && extent(old, self.abi) == extent(new, self.abi)
            && starts(old, self.abi) == starts(new, self.abi)
            && old.fields.len() == new.fields.len()
            && old.fields.iter().zip(&new.fields).all(|(a, b)| {
                let ty = self.old.plain(&a.ty);
                let width = |field: &Field| field.bits.map(|bits| bits.width);
                let inner = super::reach::base(&ty);
                a.name == b.name
                    && width(a) == width(b)
                    && ty == self.new.plain(&b.ty)
                    && !self.enums.contains_key(inner)
                    && match (self.old.record(inner), self.new.record(inner)) {
                        (Some(a), Some(b)) => self.is_same(a, b, depth + 1),
                        (None, None) => true,
                        _ => false,
                    }
            })
    }

    fn add(&mut self, at: (u64, u64), bits: u64, names: Option<String>) -> Result<(), String> {
        if self.pieces.len() >= MAX_PIECES {
            return Err("it has more members than any record of HyperDbg".to_owned());
        }
        let (here, there) = at;
        self.pieces.push(Piece {
            here,
            there,
            bits,
            names,
        });
        Ok(())
    }

    fn records(&mut self, old: &Record, new: &Record, at: (u64, u64), depth: u32) -> Result<(), String> {
        if self.is_same(old, new, depth) {
            return self.add(at, extent(old, self.abi).0 * 8, None);
        }
        if depth >= MAX_DEPTH {
            return Err("its records nest too deep".to_owned());
        }
        if old.kind != new.kind || old.kind == RecordKind::Union {
            return Err(format!("`{}` is a union of other parts", old.name));
        }
        let (old_starts, new_starts) = (starts(old, self.abi), starts(new, self.abi));
        let mut paired = BTreeSet::new();
        for (index, field) in old.fields.iter().enumerate() {
            let shown = match field.name.is_empty() {
                true => format!("an unnamed member of `{}`", old.name),
                false => format!("`{}.{}`", old.name, field.name),
            };
            let other = find(old, new, index).ok_or_else(|| format!("{shown} is gone"))?;
            let (Some(twin), Some(here), Some(there)) = (
                new.fields.get(other),
                old_starts.get(index),
                new_starts.get(other),
            ) else {
                return Err(format!("{shown} has no place"));
            };
            paired.insert(other);
            let (ty, now) = (self.old.plain(&field.ty), self.new.plain(&twin.ty));
            if difference(&ty, &now, self.old, self.new) != Difference::None {
                return Err(format!("{shown} is {} instead of {}", twin.ty, field.ty));
            }
            let at = (at.0 + here, at.1 + there);
            match (field.bits, twin.bits) {
                (None, None) => self.value(&ty, at, depth)?,
                (Some(was), Some(is)) if was.width == is.width => {
                    self.add(at, u64::from(was.width), self.translated(&ty))?;
                }
                _ => return Err(format!("{shown} has another number of bits")),
            }
        }
        for (index, field) in new.fields.iter().enumerate() {
            let name = match field.name.is_empty() {
                true => format!("an unnamed one of `{}`", new.name),
                false => format!("`{}.{}`", new.name, field.name),
            };
            if !paired.contains(&index) && !self.unknown.contains(&name) {
                self.unknown.push(name);
            }
        }
        Ok(())
    }

    fn translated(&self, ty: &Type) -> Option<String> {
        match ty {
            Type::Named(name) if self.enums.contains_key(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// One value of a plain type that both sides have.
    fn value(&mut self, ty: &Type, at: (u64, u64), depth: u32) -> Result<(), String> {
        match ty {
            Type::Named(name) => match (self.old.record(name), self.new.record(name)) {
                (Some(old), Some(new)) => self.records(old, new, at, depth + 1),
                _ => {
                    let bits = self.old.integer_width(ty).ok_or("it holds no plain values")? * 8;
                    self.add(at, bits, self.translated(ty))
                }
            },
            Type::Array { of, len } => {
                let (here, there) = (size(of, self.old, self.abi)?, size(of, self.new, self.abi)?);
                for index in 0..*len {
                    let index = index * 8;
                    self.value(of, (at.0 + index * here, at.1 + index * there), depth)?;
                    // What follows each other is one piece: long arrays of numbers do not use up the bound.
                    if let [.., a, b] = self.pieces.as_mut_slice()
                        && a.names.is_none()
                        && b.names.is_none()
                        && a.here + a.bits == b.here
                        && a.there + a.bits == b.there
                    {
                        a.bits += b.bits;
                        self.pieces.pop();
                    }
                }
                Ok(())
            }
            Type::Pointer { .. } => Err("it holds a pointer".to_owned()),
        }
    }
}

/// The member of `new` that a member of `old` became: of its name, or a renamed one at its place.
fn find(old: &Record, new: &Record, index: usize) -> Option<usize> {
    let field = old.fields.get(index)?;
    if field.name.is_empty() {
        // The numbers of anonymous members are part of their types' names.
        return new
            .fields
            .iter()
            .position(|other| other.name.is_empty() && other.ty == field.ty);
    }
    let named = new.fields.iter().position(|other| other.name == field.name);
    named.or_else(|| {
        new.fields.iter().position(|other| {
            (other.offset, other.bits, &other.ty) == (field.offset, field.bits, &field.ty)
                && old.fields.iter().all(|one| one.name != other.name)
        })
    })
}

/// Bytes of a plain type.
fn size(ty: &Type, reach: &Reach<'_>, abi: Abi) -> Result<u64, String> {
    let unknown = || format!("the size of `{ty}` is not known");
    match ty {
        Type::Named(name) => match reach.record(name) {
            Some(record) => Ok(extent(record, abi).0),
            None => reach.integer_width(ty).ok_or_else(unknown),
        },
        Type::Array { of, len } => size(of, reach, abi)?.checked_mul(*len).ok_or_else(unknown),
        Type::Pointer { .. } => Ok(8),
    }
}
