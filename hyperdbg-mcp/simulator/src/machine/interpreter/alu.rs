//! Arithmetic, logic, shifts and bit instructions, with their flags.

use super::operand::{sign_extend, truncate};
use super::{Exec, Fault};
use crate::machine::registers::{flag, gpr};
use iced_x86::Mnemonic;

const STATUS: u64 = flag::CF | flag::PF | flag::AF | flag::ZF | flag::SF | flag::OF;

fn sign_bit(size: usize) -> u64 {
    1 << (size * 8 - 1)
}

impl Exec<'_> {
    /// Executes an arithmetic instruction; false when it is none.
    pub(super) fn arithmetic(&mut self) -> Result<bool, Fault> {
        let size = self.size(0);
        match self.ins.mnemonic() {
            Mnemonic::Add | Mnemonic::Adc | Mnemonic::Xadd => {
                let (left, right) = (self.read(0)?, truncate(self.read(1)?, size));
                let carry = u64::from(self.ins.mnemonic() == Mnemonic::Adc && self.flag(flag::CF));
                let sum = self.add(left, right, carry, size);
                if self.ins.mnemonic() == Mnemonic::Xadd {
                    self.write(1, left)?;
                }
                self.write(0, sum)?;
            }
            Mnemonic::Sub | Mnemonic::Sbb | Mnemonic::Cmp => {
                let (left, right) = (self.read(0)?, truncate(self.read(1)?, size));
                let borrow = u64::from(self.ins.mnemonic() == Mnemonic::Sbb && self.flag(flag::CF));
                let difference = self.subtract(left, right, borrow, size);
                if self.ins.mnemonic() != Mnemonic::Cmp {
                    self.write(0, difference)?;
                }
            }
            Mnemonic::Cmpxchg => {
                let (current, wanted) = (self.read(0)?, self.read(1)?);
                let accumulator = truncate(self.core.registers.gpr[gpr::RAX], size);
                self.subtract(accumulator, current, 0, size);
                if accumulator == current {
                    self.write(0, wanted)?;
                } else {
                    self.set_accumulator(current, size);
                }
            }
            Mnemonic::And | Mnemonic::Test | Mnemonic::Or | Mnemonic::Xor => {
                let (left, right) = (self.read(0)?, truncate(self.read(1)?, size));
                let value = match self.ins.mnemonic() {
                    Mnemonic::Or => left | right,
                    Mnemonic::Xor => left ^ right,
                    _ => left & right,
                };
                self.set_result(value, size, 0);
                if self.ins.mnemonic() != Mnemonic::Test {
                    self.write(0, value)?;
                }
            }
            Mnemonic::Inc | Mnemonic::Dec => {
                // Both leave the carry alone.
                let carry = self.core.registers.rflags & flag::CF;
                let value = self.read(0)?;
                let value = if self.ins.mnemonic() == Mnemonic::Inc {
                    self.add(value, 1, 0, size)
                } else {
                    self.subtract(value, 1, 0, size)
                };
                self.core.registers.rflags = (self.core.registers.rflags & !flag::CF) | carry;
                self.write(0, value)?;
            }
            Mnemonic::Neg => {
                let value = self.read(0)?;
                let value = self.subtract(0, value, 0, size);
                self.write(0, value)?;
            }
            Mnemonic::Not => {
                let value = !self.read(0)?;
                self.write(0, value)?;
            }
            Mnemonic::Shl | Mnemonic::Sal | Mnemonic::Shr | Mnemonic::Sar => self.shift(size)?,
            Mnemonic::Rol | Mnemonic::Ror => self.rotate(size)?,
            Mnemonic::Mul => self.multiply(size)?,
            Mnemonic::Imul => self.multiply_signed(size)?,
            Mnemonic::Div => self.divide(size)?,
            Mnemonic::Idiv => self.divide_signed(size)?,
            Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc => {
                if self.ins.op_kind(0) != iced_x86::OpKind::Register {
                    return Err(self.unsupported());
                }
                let value = self.read(0)?;
                let bit = 1 << (self.read(1)? % (size as u64 * 8));
                self.core.registers.set_flag(flag::CF, value & bit != 0);
                match self.ins.mnemonic() {
                    Mnemonic::Bts => self.write(0, value | bit)?,
                    Mnemonic::Btr => self.write(0, value & !bit)?,
                    Mnemonic::Btc => self.write(0, value ^ bit)?,
                    _ => {}
                }
            }
            Mnemonic::Bsf | Mnemonic::Bsr => {
                let value = self.read(1)?;
                self.core.registers.set_flag(flag::ZF, value == 0);
                if value != 0 {
                    let index = if self.ins.mnemonic() == Mnemonic::Bsf {
                        value.trailing_zeros()
                    } else {
                        63 - value.leading_zeros()
                    };
                    self.write(0, u64::from(index))?;
                }
            }
            Mnemonic::Bswap => {
                let value = self.read(0)?.swap_bytes() >> (64 - size * 8);
                self.write(0, value)?;
            }
            Mnemonic::Popcnt => {
                let value = u64::from(self.read(1)?.count_ones());
                self.core.registers.rflags &= !STATUS;
                self.core.registers.set_flag(flag::ZF, value == 0);
                self.write(0, value)?;
            }
            Mnemonic::Cdqe => self.core.registers.gpr[gpr::RAX] = self.accumulator_signed(4),
            Mnemonic::Cwde => {
                self.core.registers.gpr[gpr::RAX] = self.accumulator_signed(2) & 0xffff_ffff;
            }
            Mnemonic::Cqo => {
                let sign = (self.core.registers.gpr[gpr::RAX] as i64) >> 63;
                self.core.registers.gpr[gpr::RDX] = sign as u64;
            }
            Mnemonic::Cdq => {
                let sign = self.accumulator_signed(4) as i64 >> 63;
                self.core.registers.gpr[gpr::RDX] = sign as u64 & 0xffff_ffff;
            }
            Mnemonic::Stc => self.core.registers.set_flag(flag::CF, true),
            Mnemonic::Clc => self.core.registers.set_flag(flag::CF, false),
            Mnemonic::Cmc => self.core.registers.rflags ^= flag::CF,
            Mnemonic::Std => self.core.registers.set_flag(flag::DF, true),
            Mnemonic::Cld => self.core.registers.set_flag(flag::DF, false),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn flag(&self, mask: u64) -> bool {
        self.core.registers.flag(mask)
    }

    fn accumulator_signed(&self, size: usize) -> u64 {
        sign_extend(self.core.registers.gpr[gpr::RAX], size)
    }

    /// Sets the flags that follow from a result, plus `extra` (carry, overflow, adjust).
    fn set_result(&mut self, value: u64, size: usize, extra: u64) {
        let value = truncate(value, size);
        let mut flags = extra;
        if value == 0 {
            flags |= flag::ZF;
        }
        if value & sign_bit(size) != 0 {
            flags |= flag::SF;
        }
        if (value as u8).count_ones().is_multiple_of(2) {
            flags |= flag::PF;
        }
        self.core.registers.rflags = (self.core.registers.rflags & !STATUS) | flags;
    }

    pub(super) fn add(&mut self, left: u64, right: u64, carry: u64, size: usize) -> u64 {
        let wide = u128::from(left) + u128::from(right) + u128::from(carry);
        let sum = truncate(wide as u64, size);
        let mut extra = 0;
        if wide >> (size * 8) != 0 {
            extra |= flag::CF;
        }
        if (left ^ sum) & (right ^ sum) & sign_bit(size) != 0 {
            extra |= flag::OF;
        }
        extra |= (left ^ right ^ sum) & flag::AF;
        self.set_result(sum, size, extra);
        sum
    }

    pub(super) fn subtract(&mut self, left: u64, right: u64, borrow: u64, size: usize) -> u64 {
        let difference = truncate(left.wrapping_sub(right).wrapping_sub(borrow), size);
        let mut extra = 0;
        if u128::from(left) < u128::from(right) + u128::from(borrow) {
            extra |= flag::CF;
        }
        if (left ^ right) & (left ^ difference) & sign_bit(size) != 0 {
            extra |= flag::OF;
        }
        extra |= (left ^ right ^ difference) & flag::AF;
        self.set_result(difference, size, extra);
        difference
    }

    fn shift(&mut self, size: usize) -> Result<(), Fault> {
        let count = self.shift_count(size)?;
        if count == 0 {
            return Ok(());
        }
        let bits = size as u32 * 8;
        let value = self.read(0)?;
        let top = |value: u64| value & sign_bit(size) != 0;
        let (result, carry, overflow) = match self.ins.mnemonic() {
            Mnemonic::Shr => {
                let carry = (value >> (count - 1)) & 1 != 0;
                (if count < 64 { value >> count } else { 0 }, carry, top(value))
            }
            Mnemonic::Sar => {
                let wide = sign_extend(value, size) as i64;
                let carry = (wide >> (count - 1).min(63)) & 1 != 0;
                ((wide >> count.min(63)) as u64, carry, false)
            }
            _ => {
                let wide = u128::from(value) << count;
                let carry = (wide >> bits) & 1 != 0;
                let result = truncate(wide as u64, size);
                (result, carry, top(result) != carry)
            }
        };
        let mut extra = if carry { flag::CF } else { 0 };
        if overflow && count == 1 {
            extra |= flag::OF;
        }
        self.set_result(result, size, extra);
        self.write(0, result)
    }

    fn rotate(&mut self, size: usize) -> Result<(), Fault> {
        let count = self.shift_count(size)?;
        if count == 0 {
            return Ok(());
        }
        let bits = size as u32 * 8;
        let value = self.read(0)?;
        let left = self.ins.mnemonic() == Mnemonic::Rol;
        let turn = if left {
            count % bits
        } else {
            (bits - count % bits) % bits
        };
        let wide = u128::from(value) << turn;
        let result = truncate((wide | (wide >> bits)) as u64, size);
        let carry = if left {
            result & 1 != 0
        } else {
            result & sign_bit(size) != 0
        };
        self.core.registers.set_flag(flag::CF, carry);
        if count == 1 {
            let overflow = if left {
                (result & sign_bit(size) != 0) != carry
            } else {
                (result ^ (result << 1)) & sign_bit(size) != 0
            };
            self.core.registers.set_flag(flag::OF, overflow);
        }
        self.write(0, result)
    }

    fn shift_count(&mut self, size: usize) -> Result<u32, Fault> {
        let count = self.read(1)? as u32;
        Ok(count & if size == 8 { 63 } else { 31 })
    }

    fn set_accumulator(&mut self, value: u64, size: usize) {
        let rax = &mut self.core.registers.gpr[gpr::RAX];
        *rax = match size {
            8 => value,
            4 => value & 0xffff_ffff,
            _ => (*rax & !((1 << (size * 8)) - 1)) | truncate(value, size),
        };
    }

    /// Stores a double-width product in RDX:RAX (AX for bytes).
    fn set_product(&mut self, product: u128, size: usize) {
        if size == 1 {
            let rax = &mut self.core.registers.gpr[gpr::RAX];
            *rax = (*rax & !0xffff) | (product as u64 & 0xffff);
            return;
        }
        self.set_accumulator(product as u64, size);
        let high = (product >> (size * 8)) as u64;
        let rdx = &mut self.core.registers.gpr[gpr::RDX];
        *rdx = match size {
            8 => high,
            4 => high & 0xffff_ffff,
            _ => (*rdx & !0xffff) | (high & 0xffff),
        };
    }

    fn multiply(&mut self, size: usize) -> Result<(), Fault> {
        let left = truncate(self.core.registers.gpr[gpr::RAX], size);
        let product = u128::from(left) * u128::from(self.read(0)?);
        self.set_product(product, size);
        let wide = product >> (size * 8) != 0;
        self.core.registers.set_flag(flag::CF | flag::OF, wide);
        Ok(())
    }

    fn multiply_signed(&mut self, size: usize) -> Result<(), Fault> {
        let signed = |value: u64| i128::from(sign_extend(value, size) as i64);
        let product = match self.ins.op_count() {
            1 => signed(self.core.registers.gpr[gpr::RAX]) * signed(self.read(0)?),
            2 => signed(self.read(0)?) * signed(self.read(1)?),
            _ => signed(self.read(1)?) * signed(self.read(2)?),
        };
        if self.ins.op_count() == 1 {
            self.set_product(product as u128, size);
        } else {
            self.write(0, product as u64)?;
        }
        let wide = product != signed(product as u64);
        self.core.registers.set_flag(flag::CF | flag::OF, wide);
        Ok(())
    }

    /// The dividend: RDX:RAX of double width, or AX.
    fn dividend(&self, size: usize) -> u128 {
        let (rax, rdx) = (
            self.core.registers.gpr[gpr::RAX],
            self.core.registers.gpr[gpr::RDX],
        );
        if size == 1 {
            return u128::from(rax & 0xffff);
        }
        (u128::from(truncate(rdx, size)) << (size * 8)) | u128::from(truncate(rax, size))
    }

    fn set_quotient(&mut self, quotient: u128, remainder: u128, size: usize) {
        if size == 1 {
            let rax = &mut self.core.registers.gpr[gpr::RAX];
            *rax = (*rax & !0xffff) | (quotient as u64 & 0xff) | ((remainder as u64 & 0xff) << 8);
            return;
        }
        let low = u128::from(truncate(quotient as u64, size));
        self.set_product(
            low | (u128::from(truncate(remainder as u64, size)) << (size * 8)),
            size,
        );
    }

    fn divide(&mut self, size: usize) -> Result<(), Fault> {
        let divisor = u128::from(self.read(0)?);
        let dividend = self.dividend(size);
        if divisor == 0 || (dividend / divisor) >> (size * 8) != 0 {
            return Err(Fault::Divide);
        }
        self.set_quotient(dividend / divisor, dividend % divisor, size);
        Ok(())
    }

    fn divide_signed(&mut self, size: usize) -> Result<(), Fault> {
        let divisor = i128::from(sign_extend(self.read(0)?, size) as i64);
        let shift = 128 - 16 * size as u32;
        let dividend = ((self.dividend(size) << shift) as i128) >> shift;
        let Some(quotient) = dividend.checked_div(divisor) else {
            return Err(Fault::Divide);
        };
        if quotient != i128::from(sign_extend(quotient as u64, size) as i64) {
            return Err(Fault::Divide);
        }
        self.set_quotient(quotient as u128, (dividend % divisor) as u128, size);
        Ok(())
    }
}
