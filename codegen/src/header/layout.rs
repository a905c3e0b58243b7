//! Where members lie: natural alignment, `#pragma pack`, and the bit-field rules of MSVC and of System V.

use super::target::{BitFieldRule, Target};
use super::types::{Extent, Layout, Member, Place, RecordKind, Ty, Types};

/// Largest type, as for MSVC.
const MAX_BYTES: u64 = 0x7fff_ffff;

/// Why a type has no extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoExtent {
    /// It is declared but not defined, or `void`, or a function, or an array without length.
    Incomplete,
    /// It passes [`MAX_BYTES`].
    TooLarge,
}

/// Size and alignment of a type.
pub(crate) fn extent(types: &Types, target: &Target, ty: &Ty) -> Result<Extent, NoExtent> {
    let same = |size| Extent { size, align: size };
    match ty {
        Ty::Basic(basic) => basic.bytes(target).map(same).ok_or(NoExtent::Incomplete),
        Ty::Enum(_) => Ok(same(4)),
        Ty::Pointer { .. } => Ok(same(8)),
        Ty::Function(_) | Ty::Array { len: None, .. } => Err(NoExtent::Incomplete),
        Ty::Record(id) => {
            let layout = types.records.get(*id).and_then(|record| record.layout.as_ref());
            layout.map(|layout| layout.extent).ok_or(NoExtent::Incomplete)
        }
        Ty::Typedef(id) => {
            let typedef = types.typedefs.get(*id).ok_or(NoExtent::Incomplete)?;
            match typedef.extent {
                Some(known) => Ok(known),
                // No typedef is left at its top, so this ends after one step.
                None => extent(types, target, &typedef.resolved),
            }
        }
        Ty::Array { of, len: Some(len) } => {
            let element = extent(types, target, of)?;
            let size = element.size.checked_mul(*len).filter(|size| *size <= MAX_BYTES);
            Ok(Extent {
                size: size.ok_or(NoExtent::TooLarge)?,
                align: element.align,
            })
        }
    }
}

/// Lays out the members of a record; the extent of each member's type is given.
///
/// A last member of type `T[]` counts as an array without elements.
pub(crate) fn record(
    kind: RecordKind,
    pack: Option<u64>,
    target: &Target,
    members: &[(&Member, Extent)],
) -> Result<Layout, NoExtent> {
    let mut state = State {
        union: kind == RecordKind::Union,
        pack,
        end: 0,
        align: 1,
        packed: false,
        unit: None,
    };
    let mut places = Vec::with_capacity(members.len());
    for (member, extent) in members {
        let place = match (member.width, target.bit_fields) {
            (None, _) => state.plain(*extent),
            (Some(width), BitFieldRule::Microsoft) => state.microsoft(*extent, u64::from(width)),
            (Some(width), BitFieldRule::SystemV) => {
                state.system_v(*extent, u64::from(width), member.name.is_some())
            }
        };
        places.push(place);
        if state.end.div_ceil(8) > MAX_BYTES {
            return Err(NoExtent::TooLarge);
        }
    }
    Ok(Layout {
        extent: Extent {
            size: state.end.div_ceil(8).next_multiple_of(state.align),
            align: state.align,
        },
        places,
        packed: state.packed,
    })
}

/// The storage unit that MSVC fills.
struct Unit {
    start: u64,
    bytes: u64,
    used: u64,
}

struct State {
    union: bool,
    pack: Option<u64>,
    /// Bits from the start of the record to the end of what is placed.
    end: u64,
    /// Alignment of the record so far, in bytes.
    align: u64,
    packed: bool,
    unit: Option<Unit>,
}

impl State {
    /// The alignment that counts under the pack value.
    fn effective(&mut self, align: u64) -> u64 {
        match self.pack {
            Some(pack) if pack < align => {
                self.packed = true;
                pack
            }
            _ => align,
        }
    }

    fn plain(&mut self, extent: Extent) -> Place {
        self.unit = None;
        let align = self.effective(extent.align);
        self.align = self.align.max(align);
        let start = if self.union {
            0
        } else {
            self.end.div_ceil(8).next_multiple_of(align)
        };
        self.end = self.end.max((start + extent.size) * 8);
        Place {
            bit: start * 8,
            unit: start,
        }
    }

    fn microsoft(&mut self, extent: Extent, width: u64) -> Place {
        if width == 0 {
            return self.microsoft_break(extent);
        }
        if !self.union
            && let Some(unit) = &mut self.unit
            && unit.bytes == extent.size
            && unit.used + width <= unit.bytes * 8
        {
            let place = Place {
                bit: unit.start * 8 + unit.used,
                unit: unit.start,
            };
            unit.used += width;
            return place;
        }
        let align = self.effective(extent.align);
        let mut start = 0;
        if !self.union {
            // In a union MSVC leaves the alignment of bit-fields out of the record's.
            self.align = self.align.max(align);
            start = self.end.div_ceil(8).next_multiple_of(align);
        }
        self.end = self.end.max((start + extent.size) * 8);
        self.unit = Some(Unit {
            start,
            bytes: extent.size,
            used: width,
        });
        Place {
            bit: start * 8,
            unit: start,
        }
    }

    /// A bit-field of width 0 ends a storage unit; without one it does nothing.
    fn microsoft_break(&mut self, extent: Extent) -> Place {
        if self.unit.take().is_some() {
            let align = self.effective(extent.align);
            if self.union {
                self.end = self.end.max(extent.size * 8);
            } else {
                self.align = self.align.max(align);
                self.end = self.end.div_ceil(8).next_multiple_of(align) * 8;
            }
        }
        let start = if self.union { 0 } else { self.end.div_ceil(8) };
        Place {
            bit: start * 8,
            unit: start,
        }
    }

    fn system_v(&mut self, extent: Extent, width: u64, named: bool) -> Place {
        let align = self.effective(extent.align);
        let mut bit = if self.union { 0 } else { self.end };
        if width == 0 {
            // Even under `#pragma pack` the next unit of the type begins at the type's own alignment.
            bit = bit.next_multiple_of(extent.align * 8);
        } else if self.pack.is_none() && bit % (align * 8) + width > extent.size * 8 {
            // Under `#pragma pack` a bit-field may cross the boundaries of its type.
            bit = bit.next_multiple_of(align * 8);
        }
        if named {
            self.align = self.align.max(align);
        }
        self.end = self.end.max(bit + width);
        Place {
            bit,
            unit: bit / 8 / extent.size.max(1) * extent.size,
        }
    }
}
