//! Layouts of register tiles that an instruction prescribes: which thread holds which element in which register. A layout
//! is the encoding of a tensor; those that passes choose are in [`super::distribution`].
use super::{
    distribution::{Distribution, is_distributed},
    verify::size_text,
};
use girih_core::wgmma;
use girih_ir::{attr_enum, constraint::Constraint, ext::DYNAMIC, param_attr, prelude::*};

attr_enum! {
    /// A layout that an instruction prescribes.
    pub enum Fragment("a fragment") {
        /// The accumulator of wgmma: 64 rows, spread over the 128 threads of a warpgroup (PTX ISA, wgmma.mma_async, D).
        WgmmaD = "wgmma_d",
        /// The first operand of wgmma from registers.
        WgmmaA = "wgmma_a",
    }
}

/// Most columns of a fragment.
const MAX_COLUMNS: i64 = 256;

param_attr! {
    /// The layout of a register tile.
    ///
    /// `tensor<64x256xf32, #tile.layout<wgmma_d>>` is held by one warpgroup, 128 elements in each thread.
    ///
    /// ```mlir
    /// tensor<64x256xf32, #tile.layout<wgmma_d>>
    /// tensor<64x64xbf16, #tile.layout<wgmma_a>>
    /// ```
    pub struct Layout = "tile"."layout" {
        params { fragment: required(Fragment) }
        options [encoding]
        hooks {
            fn verify_encoding(&self, shape: &[i64], element: Type<'c>, e: &Emitter) -> Res {
                let fragment = self.fragment();
                if shape.len() != 2 {
                    return e.error(format!("{fragment} lays out matrices, but the tensor has rank {}", shape.len())).report();
                }
                let mut errors = Errors::default();
                if shape[0] != i64::from(wgmma::M) {
                    let m = format!("{fragment} has {} rows, but the tensor has {}; use one tile for each warpgroup", wgmma::M, size_text(shape[0]));
                    errors.merge(e.error(m).report::<()>());
                }
                let bits = element.bit_width();
                let step = match (fragment, bits) {
                    // One instruction takes 32 bytes of a row.
                    (Fragment::WgmmaA, Some(bits @ (8 | 16 | 32))) => 256 / i64::from(bits),
                    _ => 8,
                };
                if shape[1] <= 0 || shape[1] % step != 0 || shape[1] > MAX_COLUMNS {
                    let m = format!("{fragment} of {element} has a multiple of {step} columns, at most {MAX_COLUMNS}, but the tensor has {}", size_text(shape[1]));
                    errors.merge(e.error(m).report::<()>());
                }
                let fits = match fragment {
                    Fragment::WgmmaA => matches!(bits, Some(8 | 16 | 32)),
                    Fragment::WgmmaD => matches!(bits, Some(1 | 8 | 16 | 32 | 64)),
                };
                if !fits {
                    let what = match fragment {
                        Fragment::WgmmaA => "numbers of 8, 16 or 32 bits",
                        Fragment::WgmmaD => "truth values and numbers of 8, 16, 32 or 64 bits",
                    };
                    let m = format!("{fragment} holds {what}, but the tensor holds {element}");
                    errors.merge(e.error(m).report::<()>());
                }
                errors.result()
            }
        }
    }
}

/// The layout of a tensor, if it has one.
pub fn layout_of<'c>(t: Type<'c>) -> Option<Layout<'c>> {
    t.encoding().and_then(Layout::of)
}
/// Elements of a laid-out tensor that one thread holds.
pub fn elements_per_thread(t: Type<'_>) -> Option<usize> {
    if layout_of(t).is_none() {
        return Distribution::of(t).map(|d| d.registers.len());
    }
    let n: i64 = t.shape()?.iter().product();
    Some(n as usize / wgmma::THREADS as usize)
}
/// Whether a tensor says which thread holds which element.
pub fn is_laid_out(t: Type<'_>) -> bool {
    layout_of(t).is_some() || is_distributed(t)
}
/// Row and column of element `index` of thread 0. Both layouts are sums of what the thread gives
/// ([`girih_core::wgmma::accumulator`] at index 0) and what the index gives. `bits` are those of an element.
pub fn element_offset(fragment: Fragment, bits: u32, index: usize) -> (u32, u32) {
    let index = index as u32;
    match fragment {
        Fragment::WgmmaD => wgmma::accumulator(0, index),
        Fragment::WgmmaA => {
            let operand = match bits {
                8 => wgmma::Operand::E4m3,
                16 => wgmma::Operand::F16,
                _ => wgmma::Operand::Tf32,
            };
            let per_step = wgmma::a_fragment_len(operand);
            let (row, column) = wgmma::a_fragment(operand, 0, index % per_step);
            (row, column + index / per_step * operand.k())
        }
    }
}
/// Elements that lie next to each other in a row and in a thread's registers.
pub fn contiguous_elements(fragment: Fragment, bits: u32) -> u32 {
    match fragment {
        Fragment::WgmmaD => 2,
        Fragment::WgmmaA => (32 / bits.max(8)).max(1),
    }
}

/// A tile: a tensor with static sizes, laid out or not yet.
pub const ANY_TILE: Constraint = Constraint::new("a ranked tensor with static sizes", |t| {
    t.is_ranked_tensor_type() && t.shape().is_some_and(|s| !s.contains(&DYNAMIC))
});
