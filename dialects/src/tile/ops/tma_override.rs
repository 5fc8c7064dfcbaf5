//! What PTX 9.4 adds to copies: masks of 32 bits, reports on the mbarrier, and fields of a tensor map that one copy replaces
//! (PTX ISA 9.4 section 9.7.10.28.5.2).
use super::super::types::{MapMode, TensorMapType};
use girih_core::target::{MaskWidth, Report as CoreReport};
use girih_ir::{attr_enum, prelude::*};

attr_enum! {
    /// What a load reports on its mbarrier besides bytes: `.mbarrier::report`.
    pub enum Report("a report mechanism") {
        /// Nothing.
        Disabled = "disabled",
        /// Validity of each 16 bytes: `::validity::per_16bytes::80000000`.
        Per16Bytes80000000 = "per_16bytes_80000000",
        /// `::validity::per_16bytes::8000`.
        Per16Bytes8000 = "per_16bytes_8000",
        /// `::validity::per_16bytes::80`.
        Per16Bytes80 = "per_16bytes_80",
        /// `::validity::per_16bytes::8`.
        Per16Bytes8 = "per_16bytes_8",
        /// Validity of each element: `::validity::per_element::ff`.
        PerElementFf = "per_element_ff",
    }
}

impl Report {
    /// From the core crate's.
    pub const fn of_core(report: CoreReport) -> Report {
        match report {
            CoreReport::Disabled => Report::Disabled,
            CoreReport::Per16Bytes80000000 => Report::Per16Bytes80000000,
            CoreReport::Per16Bytes8000 => Report::Per16Bytes8000,
            CoreReport::Per16Bytes80 => Report::Per16Bytes80,
            CoreReport::Per16Bytes8 => Report::Per16Bytes8,
            CoreReport::PerElementFf => Report::PerElementFf,
        }
    }
    /// The mechanism, as the core crate has it.
    pub const fn core(self) -> CoreReport {
        match self {
            Report::Disabled => CoreReport::Disabled,
            Report::Per16Bytes80000000 => CoreReport::Per16Bytes80000000,
            Report::Per16Bytes8000 => CoreReport::Per16Bytes8000,
            Report::Per16Bytes80 => CoreReport::Per16Bytes80,
            Report::Per16Bytes8 => CoreReport::Per16Bytes8,
            Report::PerElementFf => CoreReport::PerElementFf,
        }
    }
}

/// How a load names the blocks of a multicast: `multicast`, the same with `mask_16b`, or `multicast_32b`.
#[derive(Clone, Copy, Debug)]
pub struct Masks {
    /// A mask of 16 bits is given.
    pub narrow: bool,
    /// The opcode says so.
    pub spelt_16b: bool,
    /// A mask of 32 bits is given.
    pub wide: bool,
}

impl Masks {
    /// The opcode's qualifier; `None` where the load is for one block.
    pub const fn width(self) -> Option<MaskWidth> {
        match (self.narrow, self.wide, self.spelt_16b) {
            (_, true, _) => Some(MaskWidth::B32),
            (true, false, true) => Some(MaskWidth::B16),
            (true, false, false) => Some(MaskWidth::Plain),
            (false, false, _) => None,
        }
    }

    /// A load has one mask, and none to `shared::cta`.
    pub fn rules<'c>(self, op: OperationRef<'c, 'c>, errors: &mut Errors, cta: bool) {
        if self.narrow && self.wide {
            errors.op(&op, "has a mask of 16 bits and one of 32; give one of them");
        }
        if self.spelt_16b && !self.narrow {
            errors.op(
                &op,
                "has `mask_16b`, which says how `multicast` is spelt, but no `multicast`",
            );
        }
        if cta && (self.narrow || self.wide) {
            errors.op(&op, "a multicast writes to the blocks of a cluster, but the destination is named through shared::cta; leave `space cta` out");
        }
    }
}

/// Fields of the map that one copy replaces.
pub struct Override<'c, 'x> {
    /// `override_address`: where the tensor lies.
    pub address: Option<Value<'c, 'c>>,
    /// `override_dims`: its sizes, outermost first.
    pub dims: &'x [Value<'c, 'c>],
    /// `override_strides`: bytes from one position to the next of all dimensions but the innermost, outermost first.
    pub strides: &'x [Value<'c, 'c>],
}

impl<'c> Override<'c, '_> {
    /// Whether anything is replaced.
    pub fn is_some(&self) -> bool {
        self.address.is_some() || !self.dims.is_empty() || !self.strides.is_empty()
    }

    /// PTX's rules, as far as values are known. `narrow` is a multicast with a mask of 16 bits.
    pub fn rules(
        &self,
        op: OperationRef<'c, 'c>,
        errors: &mut Errors,
        map: TensorMapType<'c>,
        coords: &[Value<'c, 'c>],
        four_rows: bool,
        narrow: bool,
    ) {
        if let Some(v) = self.address.and_then(|a| a.constant_int()).filter(|v| v % 16 != 0) {
            errors.op(
                &op,
                format!("override_address is {v}, but a tensor starts on a multiple of 16 bytes; start it there"),
            );
        }
        if self.dims.is_empty() && self.strides.is_empty() {
            return;
        }
        let rank = map.dimensions();
        if self.address.is_none() {
            let m = "replaces sizes of the tensor, but not its address, and PTX has no such form; give override_address too";
            errors.op(&op, m);
        }
        if four_rows || map.mode() != MapMode::Tile {
            let m = format!(
                "sizes can be replaced in mode tile only, but the copy goes by {map}{}; give override_address alone",
                if four_rows { " in four rows" } else { "" }
            );
            errors.op(&op, m);
        }
        if (self.dims.len(), self.strides.len()) != (rank, rank.saturating_sub(1)) {
            let m = format!(
                "override_dims has {} sizes and override_strides {} strides, but the map {map} takes {rank} and {}: all are \
                 replaced together; give all of them, or none",
                self.dims.len(),
                self.strides.len(),
                rank.saturating_sub(1)
            );
            errors.op(&op, m);
        }
        if narrow {
            errors.op(
                &op,
                "replaces sizes in a multicast, whose mask has 32 bits then; use multicast_32b",
            );
        }
        for v in self
            .dims
            .iter()
            .filter_map(|d| d.constant_int())
            .filter(|v| !(1..=255).contains(v))
        {
            errors.op(
                &op,
                format!(
                    "override_dims has {v}, but a size that is replaced has 8 bits: 1 to 255; make a map of that size"
                ),
            );
        }
        let stride = |v: &i64| *v % 16 != 0 || !(0..1 << 40).contains(v);
        for v in self.strides.iter().filter_map(|s| s.constant_int()).filter(stride) {
            errors.op(
                &op,
                format!("override_strides has {v} bytes, but a stride is a multiple of 16 below 2^40; pad the rows"),
            );
        }
        for v in coords.iter().filter_map(|c| c.constant_int()).filter(|v| *v != 0) {
            let m = format!(
                "a coordinate is {v}, but a copy that replaces sizes starts at 0; move override_address instead"
            );
            errors.op(&op, m);
        }
    }
}
