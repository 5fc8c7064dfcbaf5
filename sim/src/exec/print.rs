//! `vprintf`, which the driver provides: text of a kernel, formatted as C does and shown when the launch ends.
use super::Context;
use super::memory::Generic;
use super::shared::ClusterShared;
use super::warp::{Warp, lanes};
use crate::isa::{Argument, AssertFail, Print, Program, Space};
use crate::memory::{Bytes, Fault, FaultKind};

/// Longest format or string that is followed; without an end there would be none.
const LONGEST: usize = 4096;

impl Warp {
    /// Formats for each active lane, in order.
    pub(super) fn print(&mut self, cx: &mut Context<'_, '_>, print: &Print, active: u32) -> Result<(), Fault> {
        let program: &Program = cx.grid.program;
        for l in lanes(active) {
            self.lane = l;
            let format = self.pointer(program, l, print.format);
            let arguments = self.pointer(program, l, print.arguments);
            let format = self.string(cx, l, format)?;
            let (text, count) = self.format(cx, l, &format, arguments)?;
            let thread = self.identity.as_ref().map_or(0, |i| i.warp) * 32 + l as u32;
            cx.grid.print(cx.cluster.blocks[cx.block].index, thread, &text);
            if let Some(spin) = &mut cx.cluster.spin {
                spin.changes();
            }
            match print.result {
                Some(Argument::Memory(offset, _)) => {
                    let at = (self.frame_base(l) + offset) as usize;
                    let local = &mut self.local[l];
                    if local.len() < at + 4 {
                        local.resize(at + 4, 0);
                    }
                    local[at..at + 4].copy_from_slice(&count.to_le_bytes());
                }
                Some(Argument::Register(d)) => self.write(l, d, count.into()),
                None => {}
            }
        }
        Ok(())
    }

    /// What an assertion that does not hold ends the launch with.
    pub(super) fn failed_assertion(&mut self, cx: &Context<'_, '_>, failed: &AssertFail, active: u32) -> Fault {
        let l = active.trailing_zeros() as usize;
        self.lane = l;
        let message = self.pointer(cx.grid.program, l, failed.message);
        match self.string(cx, l, message) {
            Ok(text) => Fault::new(
                FaultKind::Assert,
                format!("the assertion `{}` does not hold", String::from_utf8_lossy(&text)),
            ),
            Err(fault) => fault,
        }
    }

    fn pointer(&self, program: &Program, l: usize, argument: Argument) -> u64 {
        match argument {
            Argument::Register(value) => self.read(program, l, value),
            Argument::Memory(offset, _) => {
                let at = (self.frame_base(l) + offset) as usize;
                let mut word = [0; 8];
                if let Some(bytes) = self.local[l].get(at..at + 8) {
                    word.copy_from_slice(bytes);
                }
                u64::from_le_bytes(word)
            }
        }
    }

    fn bytes_at(&self, cx: &Context<'_, '_>, l: usize, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        match super::memory::resolve(Space::Generic, addr) {
            (Space::Local, addr) => self.read_local(l, addr, out),
            _ => {
                let shared = ClusterShared {
                    blocks: &cx.cluster.blocks,
                    own: cx.block,
                };
                let memory = Generic {
                    global: cx.grid.memory,
                    shared: &shared,
                    space: Space::Generic,
                };
                memory.read(addr, out)
            }
        }
    }

    fn string(&self, cx: &Context<'_, '_>, l: usize, addr: u64) -> Result<Vec<u8>, Fault> {
        let mut text = Vec::new();
        let mut byte = [0];
        while text.len() < LONGEST {
            self.bytes_at(cx, l, addr.wrapping_add(text.len() as u64), &mut byte)?;
            if byte[0] == 0 {
                break;
            }
            text.push(byte[0]);
        }
        Ok(text)
    }

    /// The text, and how many arguments it took. Arguments are packed, each at a multiple of its size.
    fn format(&self, cx: &Context<'_, '_>, l: usize, format: &[u8], arguments: u64) -> Result<(String, u32), Fault> {
        let mut out = vec![];
        let mut at = arguments;
        let mut count = 0;
        let mut rest = format;
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            if byte != b'%' {
                out.push(byte);
                continue;
            }
            if let [b'%', tail @ ..] = rest {
                out.push(b'%');
                rest = tail;
                continue;
            }
            let spec = Spec::parse(&mut rest);
            let bytes = if spec.wide { 8 } else { 4 };
            at = at.next_multiple_of(bytes);
            let mut word = [0; 8];
            self.bytes_at(cx, l, at, &mut word[..bytes as usize])?;
            at += bytes;
            count += 1;
            let bits = u64::from_le_bytes(word);
            let text = if spec.kind == b's' {
                String::from_utf8_lossy(&self.string(cx, l, bits)?).into_owned()
            } else {
                spec.value(bits)
            };
            out.extend(spec.pad(text).bytes());
        }
        Ok((String::from_utf8_lossy(&out).into_owned(), count))
    }
}

/// One conversion of a format.
struct Spec {
    kind: u8,
    /// Whether the argument has 8 bytes.
    wide: bool,
    left: bool,
    zeros: bool,
    plus: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn parse(rest: &mut &[u8]) -> Spec {
        let mut spec = Spec {
            kind: 0,
            wide: false,
            left: false,
            zeros: false,
            plus: false,
            alternate: false,
            width: 0,
            precision: None,
        };
        let mut longs = 0;
        while let Some((&byte, tail)) = rest.split_first() {
            *rest = tail;
            match byte {
                b'-' => spec.left = true,
                b'0' if spec.width == 0 && spec.precision.is_none() => spec.zeros = true,
                b'+' => spec.plus = true,
                b'#' => spec.alternate = true,
                b' ' | b'h' => {}
                b'.' => spec.precision = Some(0),
                b'0'..=b'9' => {
                    let place = spec.precision.as_mut().unwrap_or(&mut spec.width);
                    *place = (*place * 10 + usize::from(byte - b'0')).min(LONGEST);
                }
                b'l' | b'j' | b'z' | b't' => longs += 1,
                _ => {
                    spec.kind = byte;
                    break;
                }
            }
        }
        spec.wide = longs > 0 || matches!(spec.kind, b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'p' | b's');
        spec
    }

    fn value(&self, bits: u64) -> String {
        let signed = if self.wide { bits as i64 } else { i64::from(bits as i32) };
        let plus = |text: String| {
            if self.plus && !text.starts_with('-') {
                format!("+{text}")
            } else {
                text
            }
        };
        let real = f64::from_bits(bits);
        let precision = self.precision.unwrap_or(6);
        let is_real = matches!(self.kind, b'f' | b'F' | b'e' | b'E' | b'g' | b'G');
        if is_real && !real.is_finite() {
            let name = if real.is_nan() { "nan" } else { "inf" };
            return plus(format!("{}{name}", if real < 0.0 { "-" } else { "" }));
        }
        match self.kind {
            b'd' | b'i' => plus(signed.to_string()),
            b'u' => bits.to_string(),
            b'x' if self.alternate => format!("{bits:#x}"),
            b'x' => format!("{bits:x}"),
            b'X' => format!("{bits:X}"),
            b'o' => format!("{bits:o}"),
            b'c' => char::from(bits as u8).to_string(),
            b'p' => format!("{bits:#x}"),
            b'e' | b'E' => plus(exponential(real, precision)),
            b'g' | b'G' => plus(shortest(real, precision.max(1), self.alternate)),
            _ => plus(format!("{real:.precision$}")),
        }
    }

    fn pad(&self, text: String) -> String {
        let width = self.width;
        if self.left {
            format!("{text:<width$}")
        } else if self.zeros && self.kind != b's' && text.len() < width {
            let (sign, digits) = text.split_at(usize::from(text.starts_with(['-', '+'])));
            let zeros = width - text.len();
            format!("{sign}{}{digits}", "0".repeat(zeros))
        } else {
            format!("{text:>width$}")
        }
    }
}

/// C's `%g`: as many digits, with an exponent where it is below -4 or not below the digits; without zeros at the end.
fn shortest(x: f64, digits: usize, keeps_zeros: bool) -> String {
    let scientific = exponential(x, digits - 1);
    let exponent: i64 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') && !keeps_zeros {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..digits as i64).contains(&exponent) {
        let decimals = (digits as i64 - 1 - exponent) as usize;
        return trimmed(&format!("{x:.decimals$}"));
    }
    match scientific.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", trimmed(mantissa)),
        None => scientific,
    }
}

/// C's exponents have a sign and two digits at least.
fn exponential(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let value: i32 = exponent.parse().unwrap_or(0);
            let sign = if value < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", value.abs())
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn general_numbers_are_those_of_c() {
        for (x, digits, text) in [
            (0.0, 6, "0"),
            (0.1, 6, "0.1"),
            (f64::from(0.1f32), 9, "0.100000001"),
            (0.1, 17, "0.10000000000000001"),
            (100_000.0, 6, "100000"),
            (1e6, 6, "1e+06"),
            (999_999.5, 6, "1e+06"),
            (1.5e-4, 6, "0.00015"),
            (-1.25e-5, 6, "-1.25e-05"),
            (1e300, 17, "1.0000000000000001e+300"),
        ] {
            assert_eq!(shortest(x, digits, false), text);
        }
        assert_eq!(shortest(1.5, 4, true), "1.500");
    }
}
