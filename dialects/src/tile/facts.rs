//! What a kernel's arguments are known to be, which attributes of them say and every launch is held to.
//!
//! | attribute | on | says |
//! |---|---|---|
//! | `tile.aligned = 16` | a memref | its address, and the bytes of each stride but a stride of 1, are multiples of so many bytes |
//! | `tile.divisible = [1, 64]` | a memref | its sizes are multiples, dimension by dimension |
//! | `tile.divisible = 64` | an integer | it is a multiple |
//! | `tile.range = [0, 100]` | an integer | it is from the first to the second, both included |
use girih_ir::{
    ext::DYNAMIC,
    kind::{AnyAttr, I64, Kind},
    mlir_sys::*,
    prelude::*,
};

use super::{
    ops::kernel::{Entry, Kernel},
    verify::element_bits,
};

/// Names of the attributes.
const ALIGNED: &str = "tile.aligned";
const DIVISIBLE: &str = "tile.divisible";
const RANGE: &str = "tile.range";

/// What is known of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Bytes that a memref's address and strides are multiples of.
    pub aligned: i64,
    /// What a memref's sizes, or a number, are multiples of; empty where nothing is said.
    pub divisible: Vec<i64>,
    /// The least and the largest value of a number.
    pub range: Option<[i64; 2]>,
}

impl Facts {
    const NONE: Facts = Facts {
        aligned: 1,
        divisible: vec![],
        range: None,
    };

    /// What a kernel or its entry says of an argument.
    pub fn of(op: OperationRef<'_, '_>, argument: usize) -> Facts {
        dictionary(op, argument).map_or(Facts::NONE, Facts::read)
    }

    fn read(dictionary: Attribute<'_>) -> Facts {
        let range = get(dictionary, RANGE).map(numbers);
        Facts {
            aligned: get(dictionary, ALIGNED).and_then(I64::from_attribute).unwrap_or(1),
            divisible: get(dictionary, DIVISIBLE).map(numbers).unwrap_or_default(),
            range: range.and_then(|r| r.try_into().ok()),
        }
    }

    /// The range of an integer of type `t` as LLVM says it of a function's argument, from the least to one past the largest:
    /// the text of an attribute.
    pub fn llvm_range(&self, t: Type<'_>) -> Option<String> {
        let ([least, most], bits) = (self.range?, t.bit_width()?);
        let largest = i64::MAX >> 64u64.saturating_sub(bits as u64);
        // All of a type is no range.
        let fits = least >= -largest - 1 && most < largest;
        fits.then(|| format!("#llvm.constant_range<{t}, {least}, {}>", most + 1))
    }

    /// What dimension `dim` of a memref, or a number at 0, is a multiple of.
    pub fn multiple(&self, dim: usize) -> i64 {
        self.divisible.get(dim).copied().unwrap_or(1).max(1)
    }

    /// Whether rows along `axis` of a memref of type `t`, whose stride there is 1, start at multiples of `by` elements.
    pub fn rows_start_at(&self, t: Type<'_>, axis: usize, by: i64) -> bool {
        let (Some((strides, _)), Some(bits)) = (t.strides_and_offset(), element_bits(t)) else {
            return false;
        };
        let bytes = by.saturating_mul(bits as i64 / 8);
        let known = self.aligned % bytes == 0;
        let stride_fits = |(a, s): (usize, &i64)| a == axis || if *s == DYNAMIC { known } else { s % by == 0 };
        known && strides.iter().enumerate().all(stride_fits)
    }
}

/// The argument that a value is, and the kernel whose it is.
pub fn argument<'c>(v: Value<'c, 'c>) -> Option<(OperationRef<'c, 'c>, usize)> {
    v.argument_of()
        .filter(|(owner, _)| owner.is::<Kernel>() || owner.is::<Entry>())
}

/// What the source says of an argument, where it says something.
pub(super) fn said<'c>(op: OperationRef<'c, '_>, argument: usize) -> Option<Attribute<'c>> {
    // SAFETY: the attribute is a dictionary.
    dictionary(op, argument).filter(|d| unsafe { mlirDictionaryAttrGetNumElements(d.to_raw()) } > 0)
}

fn dictionary<'c>(op: OperationRef<'c, '_>, argument: usize) -> Option<Attribute<'c>> {
    let all = op.attr("arg_attrs").and_then(AnyAttr::from_attribute)?;
    // SAFETY: the element is asked for only where there is one.
    unsafe {
        let inside =
            mlirAttributeIsAArray(all.to_raw()) && (argument as isize) < mlirArrayAttrGetNumElements(all.to_raw());
        let found = inside.then(|| Attribute::from_raw(mlirArrayAttrGetElement(all.to_raw(), argument as isize)))?;
        mlirAttributeIsADictionary(found.to_raw()).then_some(found)
    }
}

fn get<'c>(dictionary: Attribute<'c>, name: &str) -> Option<Attribute<'c>> {
    // SAFETY: the attribute is a dictionary; what it has not is null.
    unsafe {
        let key = MlirStringRef {
            data: name.as_ptr().cast(),
            length: name.len(),
        };
        let found = mlirDictionaryAttrGetElementByName(dictionary.to_raw(), key);
        (!found.ptr.is_null()).then(|| Attribute::from_raw(found))
    }
}

/// One number, or a list of them; empty for anything else.
fn numbers(a: Attribute<'_>) -> Vec<i64> {
    // SAFETY: each element is asked for only where there is one.
    unsafe {
        if !mlirAttributeIsAArray(a.to_raw()) {
            return I64::from_attribute(a).into_iter().collect();
        }
        let elements = 0..mlirArrayAttrGetNumElements(a.to_raw());
        let all: Option<Vec<i64>> = elements
            .map(|i| I64::from_attribute(Attribute::from_raw(mlirArrayAttrGetElement(a.to_raw(), i))))
            .collect();
        all.unwrap_or_default()
    }
}

/// Every rule of the attributes of a kernel's arguments.
pub(super) fn verify<'c>(op: OperationRef<'c, 'c>, names: &[String], arguments: &[Value<'c, 'c>], errors: &mut Errors) {
    let Some(all) = op.attr("arg_attrs").and_then(AnyAttr::from_attribute) else {
        return;
    };
    // SAFETY: the length is asked of an array only.
    let count = unsafe { mlirAttributeIsAArray(all.to_raw()).then(|| mlirArrayAttrGetNumElements(all.to_raw())) };
    if count != Some(arguments.len() as isize) {
        errors.op(
            &op,
            format!(
                "arg_attrs has no dictionary for each of the {} arguments",
                arguments.len()
            ),
        );
        return;
    }
    for (i, (argument, name)) in arguments.iter().zip(names).enumerate() {
        let mut report = |why: String| errors.op(&op, format!("argument '{name}' {why}"));
        match dictionary(op, i) {
            None => report("has attributes that are no dictionary".to_owned()),
            Some(found) => verify_one(found, argument.r#type(), &mut report),
        }
    }
}

fn verify_one(dictionary: Attribute<'_>, t: Type<'_>, report: &mut dyn FnMut(String)) {
    let facts = Facts::read(dictionary);
    let memref = t.is_memref_type();
    let integer = !memref && !t.is_float_type() && t.bit_width().is_some();
    // SAFETY: the attribute is a dictionary, and each entry is asked for only where there is one.
    let entries = unsafe {
        (0..mlirDictionaryAttrGetNumElements(dictionary.to_raw())).map(|i| {
            let name = mlirIdentifierStr(mlirDictionaryAttrGetElement(dictionary.to_raw(), i).name);
            String::from_utf8_lossy(std::slice::from_raw_parts(name.data.cast(), name.length)).into_owned()
        })
    };
    for entry in entries {
        match &entry[..] {
            ALIGNED if memref => {
                if facts.aligned < 1 || !(facts.aligned as u64).is_power_of_two() {
                    report("says tile.aligned, which is a power of two of bytes, as in tile.aligned = 16".to_owned());
                    continue;
                }
                let bytes = element_bits(t).unwrap_or(8) as i64 / 8;
                for (axis, stride) in t.strides_and_offset().unwrap_or_default().0.into_iter().enumerate() {
                    if stride != DYNAMIC && stride != 1 && stride * bytes % facts.aligned != 0 {
                        report(format!(
                            "says tile.aligned = {}, but its stride along axis {axis} is {stride} elements, {} bytes; say at most what divides it",
                            facts.aligned,
                            stride * bytes
                        ));
                    }
                }
            }
            DIVISIBLE if memref || integer => {
                let shape = t.shape().unwrap_or_default();
                let expected = if memref { shape.len() } else { 1 };
                if facts.divisible.len() != expected || facts.divisible.iter().any(|d| *d < 1) {
                    report(format!(
                        "says tile.divisible, which takes {expected} numbers of at least 1, as in {DIVISIBLE} = {}",
                        if memref { "[1, 64]" } else { "64" }
                    ));
                    continue;
                }
                for (dim, (size, by)) in shape.iter().zip(&facts.divisible).enumerate() {
                    if *size != DYNAMIC && size % by != 0 {
                        report(format!(
                            "says that dimension {dim} is a multiple of {by}, but it is {size}"
                        ));
                    }
                }
            }
            RANGE if integer => {
                if facts.range.is_none_or(|[least, most]| least > most) {
                    report(
                        "says tile.range, which takes the least and the largest value, as in tile.range = [0, 100]"
                            .to_owned(),
                    );
                }
            }
            ALIGNED | DIVISIBLE | RANGE => report(format!(
                "is {t}, but {entry} is said of {}",
                match &entry[..] {
                    ALIGNED => "memrefs",
                    DIVISIBLE => "memrefs and integers",
                    _ => "integers",
                }
            )),
            other => report(format!(
                "has {other}; known are tile.aligned, tile.divisible and tile.range"
            )),
        }
    }
}
