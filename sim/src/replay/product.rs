//! Products of tensor cores: `mma`, `wgmma` and `wmma` on operands that a generator makes from the record's seed.
//!
//! Element number `i` of operand `o` comes from `x = splitmix64(seed + o, i)`, see [`Generator`]; operands are numbered in
//! the order of the code below. Registers are filled element by element, lane after lane, register after register.
use super::hex;
use crate::tensor_core::mma::{self, Mma};
use crate::tensor_core::wgmma::{self, Metadata, WarpgroupRegister, Wgmma};
use crate::tensor_core::wmma::{Fragment, Layout, Wmma};
use crate::tensor_core::{BitOp, Element, Sum, WarpRegister};
use crate::tma::flat::Flat;
use girih_core::number::FloatFormat;
use girih_core::tensor_map::Swizzle;
use girih_core::wgmma::{Accumulator, Descriptor, Instruction, Major, Operand, Source};
use serde::Deserialize;

/// One line of a record file.
#[derive(Deserialize)]
struct Case {
    kind: String,
    op: String,
    seed: u64,
    data: String,
    #[serde(default)]
    selector: usize,
    a: Option<Place>,
    b: Option<Place>,
    /// Bytes of shared memory that hold elements of A's type; B's follow.
    #[serde(default)]
    split: usize,
    #[serde(default)]
    shared_bytes: usize,
    #[serde(default)]
    trans_a: u8,
    #[serde(default)]
    trans_b: u8,
    #[serde(default)]
    scale_a: i8,
    #[serde(default)]
    scale_b: i8,
    #[serde(default)]
    scale_d: u8,
    a_type: Option<String>,
    c_layout: Option<String>,
    d_layout: Option<String>,
    d: String,
}

/// A matrix descriptor, bytes from the start of shared memory.
#[derive(Deserialize)]
struct Place {
    address: u64,
    swizzle: u8,
    lbo: u64,
    sbo: u64,
    #[serde(default)]
    base: u8,
}

/// What the simulator does differently from the product in `line`, or why `line` is none.
pub(super) fn difference(line: &str) -> Result<Option<String>, String> {
    let case: Case = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let expected = hex(&case.d)?;
    let found = match case.kind.as_str() {
        "mma" => case.mma()?,
        "wgmma" => case.wgmma()?,
        _ => case.wmma()?,
    };
    Ok(case.compare(&found, &expected))
}

impl Case {
    fn compare(&self, found: &[u8], expected: &[u8]) -> Option<String> {
        let width = if self.op.contains(".f64") { 8 } else { 4 };
        let word = |bytes: &[u8]| bytes.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
        let pairs = || found.chunks(width).zip(expected.chunks(width));
        let at = pairs().position(|(f, e)| f != e)?;
        let (found_word, expected_word) = pairs().nth(at)?;
        Some(format!(
            "{} on {} data, seed {}: word {at} of D is 0x{}, recorded was 0x{}; {} of {} differ",
            self.op,
            self.data,
            self.seed,
            word(found_word),
            word(expected_word),
            pairs().filter(|(f, e)| f != e).count(),
            expected.len() / width
        ))
    }

    fn generator(&self, operand: u64) -> Generator<'_> {
        Generator {
            seed: self.seed + operand,
            data: &self.data,
        }
    }

    fn mma(&self) -> Result<Vec<u8>, String> {
        let mut words: Vec<&str> = self.op.split('.').collect();
        let mut take = |name: &str| {
            words
                .iter()
                .position(|&w| w == name)
                .map(|at| words.remove(at))
                .is_some()
        };
        let sparse = take("sp");
        let saturate = take("satfinite");
        let f8f6f4 = take("kind::f8f6f4");
        let bit_op = match (take("xor"), take("and")) {
            (true, _) => Some(BitOp::Xor),
            (_, true) => Some(BitOp::And),
            _ => None,
        };
        let [_, _, _, shape, a_layout, b_layout, d, a, b, c, ..] = words[..] else {
            return Err(format!("`{}` is no mma", self.op));
        };
        let options = mma::Options {
            sparse,
            saturate,
            bit_op,
            f8f6f4,
            a_column_major: a_layout == "col",
            b_row_major: b_layout == "row",
        };
        let (a, b) = (element(a)?, element(b)?);
        let (c, d) = (sum(c)?, sum(d)?);
        let mma = Mma::new(numbers(shape)?, a, b, c, d, options).map_err(|e| e.to_string())?;
        let counts = mma.registers();
        let registers = |operand, contents, count| self.generator(operand).registers::<32>(contents, count);
        let metadata = if sparse {
            registers(4, Contents::metadata(a), 1)
        } else {
            vec![[0; 32]]
        };
        let mut out: Vec<WarpRegister> = vec![[0; 32]; counts.d];
        mma.run(
            &registers(1, Contents::registers(a), counts.a),
            &registers(2, Contents::registers(b), counts.b),
            &registers(3, Contents::sum(c), counts.c),
            &metadata[0],
            self.selector,
            &mut out,
        )
        .map_err(|e| e.to_string())?;
        let width = if d == Sum::F64 { 8 } else { 4 };
        Ok(out
            .iter()
            .flatten()
            .flat_map(|v| v.to_le_bytes()[..width].to_vec())
            .collect())
    }

    fn wgmma(&self) -> Result<Vec<u8>, String> {
        let words: Vec<&str> = self
            .op
            .split('.')
            .filter(|w| !matches!(*w, "sp" | "satfinite"))
            .collect();
        let [_, _, _, _, shape, d, a, b, ..] = words[..] else {
            return Err(format!("`{}` is no wgmma", self.op));
        };
        let (a_element, b_element) = (element(a)?, element(b)?);
        let (a, b): (Operand, Operand) = (a.parse()?, b.parse()?);
        let (d, d_sum) = (accumulator(d)?, sum(d)?);
        let major = |transposed: u8| if transposed == 1 { Major::Mn } else { Major::K };
        let instruction = Instruction {
            a,
            b,
            d,
            n: numbers(shape)?.1 as u32,
            a_source: if self.a.is_some() {
                Source::Shared(major(self.trans_a))
            } else {
                Source::Registers
            },
            b_major: major(self.trans_b),
        };
        let options = wgmma::Options {
            sparse: self.op.contains(".sp."),
            negate_a: self.scale_a == -1,
            negate_b: self.scale_b == -1,
            saturate: self.op.contains(".satfinite"),
        };
        let wgmma = Wgmma::new(instruction, options).map_err(|e| e.to_string())?;
        let mut shared = self.generator(1).memory(Contents::memory(a_element), self.split);
        let rest = self.shared_bytes.saturating_sub(self.split);
        shared.extend(self.generator(2).memory(Contents::memory(b_element), rest));
        let shared = Flat::new(0, shared);
        let descriptor = |place: &Option<Place>| place.as_ref().map(Place::descriptor).transpose();
        let registers = |operand, contents, count| self.generator(operand).registers::<128>(contents, count);
        let a_registers = registers(4, Contents::registers(a_element), wgmma.a_registers());
        let left = match descriptor(&self.a)? {
            Some(bits) => wgmma::A::Shared(bits),
            None => wgmma::A::Registers(&a_registers),
        };
        let right = descriptor(&self.b)?.ok_or("a wgmma record without B")?;
        let metadata = registers(5, Contents::metadata(a_element), 1);
        let metadata = Metadata {
            words: &metadata[0],
            selector: self.selector,
        };
        let mut out: Vec<WarpgroupRegister> = registers(3, Contents::sum(d_sum), wgmma.d_registers());
        wgmma
            .run(
                &shared,
                left,
                right,
                self.scale_d == 1,
                options.sparse.then_some(metadata),
                &mut out,
            )
            .map_err(|e| e.to_string())?;
        Ok(out
            .iter()
            .flatten()
            .flat_map(|v| v.to_le_bytes()[..4].to_vec())
            .collect())
    }

    fn wmma(&self) -> Result<Vec<u8>, String> {
        let words: Vec<&str> = self
            .op
            .split('.')
            .filter(|w| !matches!(*w, "satfinite" | "rn"))
            .collect();
        let [_, _, _, _, a_layout, b_layout, shape, ref types @ ..] = words[..] else {
            return Err(format!("`{}` is no wmma", self.op));
        };
        let (Some(&d), Some(&c)) = (types.first(), types.last()) else {
            return Err("a wmma without types".into());
        };
        let a = element(self.a_type.as_deref().unwrap_or("f16"))?;
        let (c, d) = (sum(c)?, sum(d)?);
        let (m, n, k) = numbers(shape)?;
        let saturate = self.op.contains(".satfinite");
        let wmma = Wmma::new((m, n, k), a, a, c, d, saturate, None).map_err(|e| e.to_string())?;
        let layout = |name: &str| if name == "row" { Layout::Row } else { Layout::Column };
        let stride = |layout: Layout, rows: usize, columns: usize| {
            if layout == Layout::Row {
                columns as u64
            } else {
                rows as u64
            }
        };
        let load = |fragment, name: &str, operand, contents, rows: usize, columns: usize, bits: usize| {
            let memory = Flat::new(0, self.generator(operand).memory(contents, rows * columns * bits / 8));
            let mut registers = vec![[0; 32]; wmma.registers(fragment)];
            let layout = layout(name);
            wmma.load(
                fragment,
                layout,
                &memory,
                0,
                stride(layout, rows, columns),
                &mut registers,
            )
            .map(|()| registers)
            .map_err(|e| e.to_string())
        };
        let c_layout = self.c_layout.as_deref().unwrap_or("row");
        let a_registers = load(Fragment::A, a_layout, 1, Contents::memory(a), m, k, a.bits())?;
        let b_registers = load(Fragment::B, b_layout, 2, Contents::memory(a), k, n, a.bits())?;
        let c_registers = load(Fragment::C, c_layout, 3, Contents::sum(c), m, n, c.bits())?;
        let mut out = vec![[0; 32]; wmma.registers(Fragment::D)];
        wmma.multiply(&a_registers, &b_registers, &c_registers, &mut out);
        let d_layout = layout(self.d_layout.as_deref().unwrap_or("row"));
        let memory = Flat::new(0, vec![0; m * n * d.bits() / 8]);
        wmma.store(d_layout, &memory, 0, stride(d_layout, m, n), &out)
            .map_err(|e| e.to_string())?;
        Ok(memory.into_bytes())
    }
}

impl Place {
    fn descriptor(&self) -> Result<u64, String> {
        let swizzle = match self.swizzle {
            0 => Swizzle::None,
            32 => Swizzle::B32,
            64 => Swizzle::B64,
            128 => Swizzle::B128,
            other => return Err(format!("swizzle {other}")),
        };
        let descriptor = Descriptor {
            address: self.address,
            leading_byte_offset: self.lbo,
            stride_byte_offset: self.sbo,
            base_offset: self.base,
            swizzle,
        };
        descriptor.encode().map_err(|e| e.to_string())
    }
}

fn element(name: &str) -> Result<Element, String> {
    Element::from_name(name).ok_or_else(|| format!("unknown element type `{name}`"))
}

fn sum(name: &str) -> Result<Sum, String> {
    Sum::from_name(name).ok_or_else(|| format!("unknown accumulator type `{name}`"))
}

fn accumulator(name: &str) -> Result<Accumulator, String> {
    Ok(match sum(name)? {
        Sum::F16 => Accumulator::F16,
        Sum::F32 => Accumulator::F32,
        Sum::S32 => Accumulator::S32,
        Sum::F64 => return Err("wgmma has no f64".into()),
    })
}

/// m, n and k of `m16n8k16`.
fn numbers(shape: &str) -> Result<(usize, usize, usize), String> {
    let numbers: Vec<usize> = shape.split(['m', 'n', 'k']).filter_map(|n| n.parse().ok()).collect();
    match numbers[..] {
        [m, n, k] => Ok((m, n, k)),
        _ => Err(format!("`{shape}` is no shape")),
    }
}

/// What the elements of an operand are.
#[derive(Clone, Copy)]
enum Contents {
    /// Floats of a format; more bits of exponent than the data's name says, for accumulators.
    Float(FloatFormat, u32),
    /// f64, with more bits of exponent likewise.
    F64(u32),
    /// Any bits, so many in an element.
    Raw(u32),
    /// Nibbles that name two of four, or for tf32 one of two.
    Metadata(bool),
}

impl Contents {
    fn of(element: Element, raw_bits: u32) -> Contents {
        match element {
            Element::F16 => Contents::Float(FloatFormat::F16, 0),
            Element::Bf16 => Contents::Float(FloatFormat::BF16, 0),
            // All 32 bits: the tensor core must drop the low ones.
            Element::Tf32 => Contents::Float(FloatFormat::F32, 0),
            Element::E4m3 => Contents::Float(FloatFormat::E4M3, 0),
            Element::E5m2 => Contents::Float(FloatFormat::E5M2, 0),
            // Any bits of the byte: the tensor core must drop those around the number.
            Element::E3m2 | Element::E2m3 | Element::E2m1 => Contents::Raw(raw_bits),
            Element::F64 => Contents::F64(0),
            Element::S8 | Element::U8 | Element::S4 | Element::U4 | Element::B1 => Contents::Raw(raw_bits),
        }
    }

    fn registers(element: Element) -> Contents {
        Contents::of(element, 32)
    }

    fn memory(element: Element) -> Contents {
        Contents::of(element, 8)
    }

    fn sum(sum: Sum) -> Contents {
        match sum {
            Sum::F16 => Contents::Float(FloatFormat::F16, 1),
            Sum::F32 => Contents::Float(FloatFormat::F32, 2),
            Sum::F64 => Contents::F64(2),
            Sum::S32 => Contents::Raw(32),
        }
    }

    fn metadata(element: Element) -> Contents {
        Contents::Metadata(element == Element::Tf32)
    }

    fn bits(self) -> u32 {
        match self {
            Contents::Float(format, _) => format.bits(),
            Contents::F64(_) => 64,
            Contents::Raw(bits) => bits,
            Contents::Metadata(_) => 4,
        }
    }
}

/// The elements of one operand.
///
/// `raw` data are the low bits of `x`. `near`, `wide` and `far` are floats whose exponent field is one of 4, 16 or 64
/// around that of 1: sign `x[63]`, exponent from `x[40..]`, mantissa from `x[0..]`. `zeros` are zeros with the sign
/// `x[63]`, one in eight of them a one.
struct Generator<'a> {
    seed: u64,
    data: &'a str,
}

impl Generator<'_> {
    fn random(&self, i: u64) -> u64 {
        let z = self.seed.wrapping_add((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn element(&self, contents: Contents, i: u64) -> u64 {
        let x = self.random(i);
        let (bits, exponent_bits, mantissa_bits, more) = match contents {
            Contents::Raw(bits) => return x & ((1 << bits) - 1),
            Contents::Metadata(false) => return [4, 8, 12, 9, 13, 14][(x % 6) as usize],
            Contents::Metadata(true) => return if x & 1 == 0 { 4 } else { 14 },
            Contents::Float(f, more) => (f.bits(), f.exponent_bits, f.mantissa_bits, more),
            Contents::F64(more) => (64, 11, 52, more),
        };
        let bias = (1u64 << (exponent_bits - 1)) - 1;
        let sign = (x >> 63) << (bits - 1);
        let width = match self.data {
            "raw" => return x & (u64::MAX >> (64 - bits)),
            "zeros" if x >> 1 & 7 == 0 => return sign | bias << mantissa_bits,
            "zeros" => return sign,
            "near" => 2,
            "wide" => 4,
            _ => 6,
        };
        let width = (width + more).min(exponent_bits - 1);
        let field = bias - (1 << (width - 1)) + (x >> 40 & ((1 << width) - 1));
        sign | field << mantissa_bits | x & ((1 << mantissa_bits) - 1)
    }

    fn registers<const LANES: usize>(&self, contents: Contents, count: usize) -> Vec<[u64; LANES]> {
        let bits = contents.bits();
        let per_register = (32 / bits).max(1) as usize;
        let register = |r: usize| {
            std::array::from_fn(|lane| {
                let first = (r * LANES + lane) * per_register;
                (0..per_register).fold(0, |word, i| {
                    word | self.element(contents, (first + i) as u64) << (i as u32 * bits)
                })
            })
        };
        (0..count).map(register).collect()
    }

    fn memory(&self, contents: Contents, bytes: usize) -> Vec<u8> {
        let width = contents.bits() as usize / 8;
        (0..bytes / width)
            .flat_map(|i| self.element(contents, i as u64).to_le_bytes()[..width].to_vec())
            .collect()
    }
}
