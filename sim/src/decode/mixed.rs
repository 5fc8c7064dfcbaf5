//! Macros that turn a lane's arithmetic into functions of whole registers.

/// `|a: u32, ...| u32` over 32-bit registers.
macro_rules! lanes32 {
    (|$a:ident| $e:expr) => {{
        fn whole(a: &$crate::isa::W32) -> $crate::isa::W32 {
            core::array::from_fn(|l| {
                let $a: u32 = a[l];
                $e
            })
        }
        whole as $crate::isa::F1
    }};
    (|$a:ident, $b:ident| $e:expr) => {{
        fn whole(a: &$crate::isa::W32, b: &$crate::isa::W32) -> $crate::isa::W32 {
            core::array::from_fn(|l| {
                let ($a, $b): (u32, u32) = (a[l], b[l]);
                $e
            })
        }
        whole as $crate::isa::F2
    }};
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {{
        fn whole(a: &$crate::isa::W32, b: &$crate::isa::W32, c: &$crate::isa::W32) -> $crate::isa::W32 {
            core::array::from_fn(|l| {
                let ($a, $b, $c): (u32, u32, u32) = (a[l], b[l], c[l]);
                $e
            })
        }
        whole as $crate::isa::F3
    }};
}

/// `|a: u64, ...| u64` over 64-bit registers.
macro_rules! lanes64 {
    (|$a:ident| $e:expr) => {{
        fn whole(a: &$crate::isa::W64) -> $crate::isa::W64 {
            core::array::from_fn(|l| {
                let $a: u64 = a[l];
                $e
            })
        }
        whole as $crate::isa::G1
    }};
    (|$a:ident, $b:ident| $e:expr) => {{
        fn whole(a: &$crate::isa::W64, b: &$crate::isa::W64) -> $crate::isa::W64 {
            core::array::from_fn(|l| {
                let ($a, $b): (u64, u64) = (a[l], b[l]);
                $e
            })
        }
        whole as $crate::isa::G2
    }};
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {{
        fn whole(a: &$crate::isa::W64, b: &$crate::isa::W64, c: &$crate::isa::W64) -> $crate::isa::W64 {
            core::array::from_fn(|l| {
                let ($a, $b, $c): (u64, u64, u64) = (a[l], b[l], c[l]);
                $e
            })
        }
        whole as $crate::isa::G3
    }};
}

/// `|a: u64, b: u64, c: u64, d: u64| u64` over registers of any width.
macro_rules! mixed {
    (|$a:ident| $e:expr) => {
        mixed!(|$a, _b, _c, _d| $e)
    };
    (|$a:ident, $b:ident| $e:expr) => {
        mixed!(|$a, $b, _c, _d| $e)
    };
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        mixed!(|$a, $b, $c, _d| $e)
    };
    (|$a:ident, $b:ident, $c:ident, $d:ident| $e:expr) => {{
        fn whole(s: &[$crate::isa::W64; 4]) -> $crate::isa::W64 {
            core::array::from_fn(|l| {
                let ($a, $b, $c, $d): (u64, u64, u64, u64) = (s[0][l], s[1][l], s[2][l], s[3][l]);
                $e
            })
        }
        whole as $crate::isa::Mixed
    }};
}

/// `|a: u32, b: u32| bool` over 32-bit registers.
macro_rules! compare32 {
    (|$a:ident, $b:ident| $e:expr) => {{
        fn whole(a: &$crate::isa::W32, b: &$crate::isa::W32) -> u32 {
            let mut mask = 0;
            for l in 0..$crate::isa::LANES {
                let ($a, $b): (u32, u32) = (a[l], b[l]);
                mask |= u32::from($e) << l;
            }
            mask
        }
        whole as $crate::isa::Cmp32
    }};
}

/// `|a: u64, b: u64| bool` over 64-bit registers.
macro_rules! compare64 {
    (|$a:ident, $b:ident| $e:expr) => {{
        fn whole(a: &$crate::isa::W64, b: &$crate::isa::W64) -> u32 {
            let mut mask = 0;
            for l in 0..$crate::isa::LANES {
                let ($a, $b): (u64, u64) = (a[l], b[l]);
                mask |= u32::from($e) << l;
            }
            mask
        }
        whole as $crate::isa::Cmp64
    }};
}

pub(crate) use {compare32, compare64, lanes32, lanes64, mixed};

use super::function::{FunctionDecoder, Operands, Result};
use super::types::Ty;
use crate::isa::{Mixed, Op, Value};

impl<'m> FunctionDecoder<'_, 'm> {
    /// Emits a [`Mixed`] function of up to four sources.
    pub fn emit_mixed(&mut self, f: Mixed, d: Value, sources: &[Value]) {
        let at = |i: usize| sources.get(i).copied().unwrap_or(sources[0]);
        self.emit(Op::Mixed(Box::new((f, d, [at(0), at(1), at(2), at(3)]))));
    }

    /// Destination and sources of `ty` for an instruction `d, a, ...` with exactly `n` sources.
    pub fn operands(&mut self, operands: &Operands<'m>, ty: Ty, n: usize) -> Result<(Value, Vec<Value>)> {
        operands.count(n + 1, n + 1)?;
        let sources = (1..=n)
            .map(|i| self.source(operands.get(i)?, ty))
            .collect::<Result<Vec<_>>>()?;
        Ok((self.destination(operands.get(0)?, ty)?, sources))
    }
}
