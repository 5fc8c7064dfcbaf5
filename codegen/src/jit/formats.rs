//! Conversions that LLVM has no form for on a CPU: to and from 8-bit floats, and from f64 to halves (which would round
//! twice, through f32).
//!
//! ```mlir
//! %y = arith.extf %x : f8E4M3FN to f32          // before
//!
//! %bits = arith.bitcast %x : f8E4M3FN to i8     // after: a table of all 256 values
//! %code = arith.index_castui %bits : i8 to index
//! %table = memref.get_global @girih_e4m3_values : memref<256xf32>
//! %y = memref.load %table[%code] : memref<256xf32>
//!
//! %y = arith.truncf %x : f64 to f8E4M3FN        // before
//!
//! %bits = func.call @girih_to_e4m3(%x) : (f64) -> i32    // after: rounded once, by the same codec as everything else
//! %byte = arith.trunci %bits : i32 to i8
//! %y = arith.bitcast %byte : i8 to f8E4M3FN
//! ```
//! Other sources and targets go through f64 and f32 exactly. Conversions of integers are treated alike.
use super::build::Builder;
use crate::error::{Error, Result};
use girih_core::number::FloatFormat;
use melior::ir::{
    BlockLike, Module, Operation, OperationRef, ValueLike,
    operation::{OperationLike, WalkOrder, WalkResult},
};
use mlir_sys::{mlirOperationDestroy, mlirValueReplaceAllUsesOfWith};
use std::collections::BTreeSet;

/// Symbols of the functions in `symbols.rs`: f64 to the bits of a format.
pub(super) const TO_E4M3: &str = "girih_to_e4m3";
pub(super) const TO_E5M2: &str = "girih_to_e5m2";
pub(super) const TO_BF16: &str = "girih_to_bf16";
pub(super) const TO_F16: &str = "girih_to_f16";

/// A narrow format: its name in MLIR, its bits as an integer, the function that makes it, and, where reading it needs
/// one, the table of its values.
struct Narrow {
    mlir: &'static str,
    storage: &'static str,
    make: &'static str,
    table: Option<(&'static str, FloatFormat)>,
}

const FORMATS: [Narrow; 4] = [
    Narrow {
        mlir: "f8E4M3FN",
        storage: "i8",
        make: TO_E4M3,
        table: Some(("girih_e4m3_values", FloatFormat::E4M3)),
    },
    Narrow {
        mlir: "f8E5M2",
        storage: "i8",
        make: TO_E5M2,
        table: Some(("girih_e5m2_values", FloatFormat::E5M2)),
    },
    Narrow {
        mlir: "bf16",
        storage: "i16",
        make: TO_BF16,
        table: None,
    },
    Narrow {
        mlir: "f16",
        storage: "i16",
        make: TO_F16,
        table: None,
    },
];

/// Rewrites every such conversion in the module.
pub(super) fn expand(module: &Module<'_>) -> Result<()> {
    let mut conversions = Vec::new();
    module.as_operation().walk(WalkOrder::PreOrder, |operation| {
        conversions.extend(Conversion::of(operation).map(|conversion| (operation.to_raw(), conversion)));
        WalkResult::Advance
    });
    let mut used = BTreeSet::new();
    for (operation, conversion) in conversions {
        // SAFETY: each operation is alive until its own turn; `module` holds them all.
        rewrite(unsafe { OperationRef::from_raw(operation) }, &conversion, &mut used)?;
    }
    for format in FORMATS.iter() {
        if used.contains(format.make) {
            declare(module, format)?;
        }
        if let Some((table, codec)) = format.table.filter(|(table, _)| used.contains(table)) {
            tabulate(module, table, codec)?;
        }
    }
    Ok(())
}

/// What an operation needs.
enum Conversion {
    /// Read a format of the table: by `arith.extf` (`None`), or by the named conversion from f32 to an integer.
    Read(&'static Narrow, Option<&'static str>),
    /// Make a format: from a float (`None`), or by the named conversion from an integer to f64.
    Make(&'static Narrow, Option<&'static str>),
}

impl Conversion {
    fn of(operation: OperationRef<'_, '_>) -> Option<Conversion> {
        let name = operation.name();
        let name = name.as_string_ref();
        let name = name.as_str().ok().filter(|name| name.starts_with("arith."))?;
        let source = operation.operand(0).ok()?.r#type().to_string();
        let target = operation.result(0).ok()?.r#type().to_string();
        let narrow = |ty: &str| FORMATS.iter().find(|format| format.mlir == ty);
        let eight_bits = |ty: &str| narrow(ty).filter(|format| format.table.is_some());
        match name {
            "arith.extf" => eight_bits(&source).map(|format| Conversion::Read(format, None)),
            "arith.fptosi" => eight_bits(&source).map(|format| Conversion::Read(format, Some("arith.fptosi"))),
            "arith.fptoui" => eight_bits(&source).map(|format| Conversion::Read(format, Some("arith.fptoui"))),
            "arith.sitofp" => eight_bits(&target).map(|format| Conversion::Make(format, Some("arith.sitofp"))),
            "arith.uitofp" => eight_bits(&target).map(|format| Conversion::Make(format, Some("arith.uitofp"))),
            "arith.truncf" => narrow(&target)
                .filter(|format| format.table.is_some() || source == "f64")
                .map(|format| Conversion::Make(format, None)),
            _ => None,
        }
    }
}

fn rewrite(operation: OperationRef<'_, '_>, conversion: &Conversion, used: &mut BTreeSet<&'static str>) -> Result<()> {
    let lost = |_| Error::Reference("a conversion between number formats could not be expanded".to_owned());
    let build = Builder { operation };
    let source = operation.operand(0).map_err(lost)?;
    let target = operation.result(0).map_err(lost)?;
    let value = match conversion {
        Conversion::Read(format, to_integer) => {
            let (table, _) = format.table.unwrap_or((format.make, FloatFormat::E4M3));
            used.insert(table);
            let bits = build.value("arith.bitcast", &[source], "i8", &[])?;
            let code = build.value("arith.index_castui", &[bits], "index", &[])?;
            let table = build.value("memref.get_global", &[], TABLE_TYPE, &[("name", &format!("@{table}"))])?;
            let value = build.value("memref.load", &[table, code], "f32", &[])?;
            match (to_integer, target.r#type().to_string().as_str()) {
                (Some(name), ty) => build.value(name, &[value], ty, &[])?,
                (None, "f32") => value,
                (None, "f64") => build.value("arith.extf", &[value], "f64", &[])?,
                // Both halves hold every 8-bit value exactly.
                (None, ty) => build.value("arith.truncf", &[value], ty, &[])?,
            }
        }
        Conversion::Make(format, from_integer) => {
            used.insert(format.make);
            let wide = match (from_integer, source.r#type().to_string().as_str()) {
                (Some(name), _) => build.value(name, &[source], "f64", &[])?,
                (None, "f64") => source,
                (None, _) => build.value("arith.extf", &[source], "f64", &[])?,
            };
            let word = build.value("func.call", &[wide], "i32", &[("callee", &format!("@{}", format.make))])?;
            let bits = build.value("arith.trunci", &[word], format.storage, &[])?;
            build.value("arith.bitcast", &[bits], format.mlir, &[])?
        }
    };
    // SAFETY: both values are alive and of one type; the operation has no uses left when it is destroyed.
    unsafe {
        mlirValueReplaceAllUsesOfWith(target.to_raw(), value.to_raw());
        mlirOperationDestroy(operation.to_raw());
    }
    Ok(())
}

const TABLE_TYPE: &str = "memref<256xf32>";

fn declare(module: &Module<'_>, format: &Narrow) -> Result<()> {
    append(module, &format!("func.func private @{}(f64) -> i32", format.make))
}

fn tabulate(module: &Module<'_>, table: &str, codec: FloatFormat) -> Result<()> {
    // Little-endian f32 in hexadecimal: NaN has no other spelling.
    let digits: String = (0..256u64)
        .flat_map(|code| (codec.decode(code) as f32).to_le_bytes())
        .map(|byte| format!("{byte:02X}"))
        .collect();
    append(
        module,
        &format!("memref.global \"private\" constant @{table} : {TABLE_TYPE} = dense<\"0x{digits}\">"),
    )
}

fn append(module: &Module<'_>, text: &str) -> Result<()> {
    let context = module.context();
    // SAFETY: `context` stays in place while the reference is used.
    let context = unsafe { context.to_ref() };
    let parsed = Module::parse(context, text)
        .ok_or_else(|| Error::Reference(format!("`{text}` could not be added to the reference")))?;
    let operation = parsed.body().first_operation();
    let operation = operation.ok_or_else(|| Error::Reference(format!("`{text}` holds no operation")))?;
    // SAFETY: a clone is ours until the block takes it.
    let copy = unsafe { Operation::from_raw(mlir_sys::mlirOperationClone(operation.to_raw())) };
    module.body().append_operation(copy);
    Ok(())
}
