//! Where two results of one launch differ.
use girih_core::{
    device::{Buffer, Device, ModuleId},
    manifest::Kernel,
};
use girih_runtime::{
    Program, Result,
    array::{Array, decode_f64},
    launch::{HostValue, Prepared, on_device},
};
use serde::Serialize;
use std::fmt;

/// Elements that are named when many differ.
const NAMED: usize = 4;

/// What counts as the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Every bit, gaps between rows included.
    Bits,
    /// Every bit, but one NaN is as good as another.
    OneNan,
    /// `|a - b| <= T + T |b|` for floats; integers bit for bit.
    Within(f64),
}

/// How one argument differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Argument.
    pub argument: String,
    /// Elements that differ, and how many there are.
    pub count: (u64, u64),
    /// The first of them.
    pub first: Vec<Element>,
    /// How many bytes between elements differ.
    pub gap_bytes: usize,
}

/// One element that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Where, outermost dimension first.
    pub index: Vec<u64>,
    /// The values on the two devices.
    pub values: [f64; 2],
    /// Their bits.
    pub bits: [u64; 2],
    /// Hexadecimal digits of an element.
    #[serde(skip)]
    pub digits: usize,
}

impl Difference {
    /// In words, with the devices' names.
    pub fn words(&self, names: [&str; 2]) -> String {
        let (differ, all) = self.count;
        let mut text = format!("{}: {differ} of {all} elements differ", self.argument);
        if self.gap_bytes > 0 {
            text.push_str(&format!(
                ", and {} bytes between elements, which no kernel may write",
                self.gap_bytes
            ));
        }
        for element in &self.first {
            let ([a, b], [x, y], width) = (element.values, element.bits, element.digits);
            text.push_str(&format!(
                "\n  at {:?}: {a} (0x{x:0width$x}) on {}, {b} (0x{y:0width$x}) on {}",
                element.index, names[0], names[1]
            ));
        }
        if differ as usize > self.first.len() {
            text.push_str("\n  ...");
        }
        text
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(["the first device", "the second"]))
    }
}

/// A program on a device. Dropping it unloads the program.
pub struct Loaded<'d> {
    device: &'d mut dyn Device,
    program: &'d Program,
    module: ModuleId,
}

impl<'d> Loaded<'d> {
    /// Loads the program.
    pub fn new(device: &'d mut dyn Device, program: &'d Program) -> Result<Self> {
        let module = program.load_on(device)?;
        Ok(Loaded {
            device,
            program,
            module,
        })
    }

    /// Launches a kernel once and gives its arguments as they are afterwards.
    pub fn launch(&mut self, kernel: &Kernel, values: &[HostValue]) -> Result<Vec<HostValue>> {
        let mut buffers = Vec::new();
        let after = self.launch_on(kernel, values, &mut buffers);
        for buffer in buffers.into_iter().flatten() {
            // After a fault the device frees nothing; the fault is what to report.
            let freed = self.device.free(buffer);
            if after.is_ok() {
                freed?;
            }
        }
        after
    }

    fn launch_on(
        &mut self,
        kernel: &Kernel,
        values: &[HostValue],
        buffers: &mut Vec<Option<Buffer>>,
    ) -> Result<Vec<HostValue>> {
        let mut given = Vec::new();
        for (arg, value) in values.iter().enumerate() {
            let buffer = match value {
                HostValue::Scalar(_) => None,
                HostValue::Array(array) => {
                    let buffer = self.device.allocate(array.bytes().len())?;
                    buffers.push(Some(buffer));
                    self.device.write(buffer, 0, array.bytes())?;
                    Some(buffer)
                }
            };
            if buffer.is_none() {
                buffers.push(None);
            }
            given.push(on_device(kernel, arg, value, buffer)?);
        }
        let target = &self.program.manifest().target;
        let prepared = Prepared::new(kernel, target, &given, self.device)?;
        prepared.launch(self.device, self.module)?;
        self.device.synchronize()?;
        let mut after = values.to_vec();
        for (value, buffer) in after.iter_mut().zip(buffers) {
            if let (HostValue::Array(array), Some(buffer)) = (value, buffer) {
                self.device.read(*buffer, 0, array.bytes_mut())?;
            }
        }
        Ok(after)
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // A device that has failed unloads nothing, and has said so before.
        let _ = self.device.unload(self.module);
    }
}

/// The arguments that differ, in the order of the kernel.
pub fn differences(
    kernel: &Kernel,
    first: &[HostValue],
    second: &[HostValue],
    tolerance: Tolerance,
) -> Result<Vec<Difference>> {
    let mut found = Vec::new();
    for (arg, pair) in kernel.args.iter().zip(first.iter().zip(second)) {
        let (HostValue::Array(a), HostValue::Array(b)) = pair else {
            continue;
        };
        found.extend(difference(arg.name(), a, b, tolerance));
    }
    Ok(found)
}

fn difference(argument: &str, a: &Array, b: &Array, tolerance: Tolerance) -> Option<Difference> {
    if a.bytes() == b.bytes() {
        return None;
    }
    let (dtype, size) = (a.dtype(), a.dtype().bytes() as usize);
    let other = b.to_packed_bytes();
    let mut found = Difference {
        argument: argument.to_owned(),
        count: (0, a.len()),
        first: Vec::new(),
        gap_bytes: 0,
    };
    let mut bytes_in_elements = 0;
    a.for_each(|n, x| {
        let y = &other[n as usize * size..][..size];
        if x == y {
            return;
        }
        bytes_in_elements += x.iter().zip(y).filter(|(x, y)| x != y).count();
        let values = [decode_f64(dtype, x), decode_f64(dtype, y)];
        if let Tolerance::Within(t) = tolerance
            && dtype.is_float()
            && is_within(values, t)
        {
            return;
        }
        if tolerance == Tolerance::OneNan && dtype.is_float() && values.iter().all(|v| v.is_nan()) {
            return;
        }
        found.count.0 += 1;
        if found.first.len() < NAMED {
            let bits = [x, y].map(|bytes| bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)));
            found.first.push(Element {
                index: a.index_of(n),
                values,
                bits,
                digits: 2 * size,
            });
        }
    });
    let all = a.bytes().iter().zip(b.bytes()).filter(|(x, y)| x != y).count();
    found.gap_bytes = all - bytes_in_elements;
    (found.count.0 > 0 || found.gap_bytes > 0).then_some(found)
}

fn is_within([a, b]: [f64; 2], t: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || a.is_finite() && b.is_finite() && (a - b).abs() <= t + t * b.abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use girih_core::dtype::DType;
    use girih_runtime::array::Layout;

    fn floats(values: &[f64]) -> Array {
        Array::from_f64(DType::F32, &[values.len() as u64], values).unwrap()
    }

    #[test]
    fn the_first_elements_that_differ_are_named_with_their_bits() {
        let (a, b) = (floats(&[1.0, 2.0, -0.0]), floats(&[1.0, 2.5, 0.0]));
        let found = difference("C", &a, &b, Tolerance::Bits).unwrap();
        assert_eq!(
            found.words(["cuda", "sim"]),
            "C: 2 of 3 elements differ\n  at [1]: 2 (0x40000000) on cuda, 2.5 (0x40200000) on sim\n  \
             at [2]: -0 (0x80000000) on cuda, 0 (0x00000000) on sim"
        );
        let found = difference("C", &a, &b, Tolerance::Within(0.1)).unwrap();
        assert_eq!(found.count, (1, 3));
        assert_eq!(difference("C", &a, &b, Tolerance::Within(0.5)), None);
        assert_eq!(difference("C", &a, &a, Tolerance::Bits), None);
        let mut nans = [floats(&[f64::NAN]), floats(&[f64::NAN])];
        nans[0].bytes_mut()[3] |= 0x80;
        assert!(difference("C", &nans[0], &nans[1], Tolerance::Bits).is_some());
        assert_eq!(difference("C", &nans[0], &nans[1], Tolerance::OneNan), None);
    }

    #[test]
    fn bytes_between_rows_count() {
        let padded = Layout::new(&[2, 1], &[2, 1], 0).unwrap();
        let a = Array::filled(DType::I16, padded, 0).unwrap();
        let mut b = a.clone();
        b.bytes_mut()[2] = 7;
        let found = difference("C", &a, &b, Tolerance::Within(1.0)).unwrap();
        assert_eq!((found.count, found.gap_bytes), ((0, 2), 1));
        assert!(found.to_string().contains("1 bytes between elements"), "{found}");
    }

    #[test]
    fn many_differences_are_cut_short() {
        let (a, b) = (floats(&[1.0; 9]), floats(&[2.0; 9]));
        let found = difference("C", &a, &b, Tolerance::Bits).unwrap();
        assert_eq!(found.first.len(), NAMED);
        assert!(found.to_string().ends_with("..."));
    }
}
