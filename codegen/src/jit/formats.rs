//! Conversions that LLVM has no form for on a CPU: to and from floats of 8 bits and less and tf32, from f64 to halves (which
//! would round twice, through f32), with a rounding of one's own, and to integers that have not the number.
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
//! %bits = func.call @girih_to_e4m3(%x, %c0) : (f64, i32) -> i32   // after: rounded once, by the same codec as everything
//! %byte = arith.trunci %bits : i32 to i8                          // else, in the direction of MLIR's number 0
//! %y = arith.bitcast %byte : i8 to f8E4M3FN
//!
//! %y = arith.fptosi %x : f32 to i8               // before
//! %y = llvm.call_intrinsic "llvm.fptosi.sat.i8.f32"(%x)           // after: the end of the range; 0 for NaN
//! ```
//! Other sources and targets go through f64 and f32 exactly. Conversions of integers are treated alike. A tf32 is an f32 whose
//! last bits are zero; `arith.truncf` gives it and `arith.extf` takes it.
use super::build::Builder;
use crate::error::{Error, Result};
use girih_core::number::FloatFormat;
use melior::ir::{
    BlockLike, Module, Operation, OperationRef, Value, ValueLike,
    attribute::{FloatAttribute, IntegerAttribute},
    operation::{OperationLike, WalkOrder, WalkResult},
};
use mlir_sys::{
    mlirDialectHandleLoadDialect, mlirGetDialectHandle__llvm__, mlirOperationDestroy, mlirValueReplaceAllUsesOfWith,
};
use std::collections::BTreeSet;

/// Symbols of the functions in `symbols.rs`: f64 to the bits of a format.
pub(super) const TO_E4M3: &str = "girih_to_e4m3";
pub(super) const TO_E5M2: &str = "girih_to_e5m2";
pub(super) const TO_E3M2: &str = "girih_to_e3m2";
pub(super) const TO_E2M3: &str = "girih_to_e2m3";
pub(super) const TO_E2M1: &str = "girih_to_e2m1";
pub(super) const TO_BF16: &str = "girih_to_bf16";
pub(super) const TO_F16: &str = "girih_to_f16";
pub(super) const TO_TF32: &str = "girih_to_tf32";
pub(super) const TO_F32: &str = "girih_to_f32";

/// A narrow format: its name in MLIR, its bits as an integer, the type that it has from here on, the function that makes it,
/// and, where reading it needs one, the table of its values.
struct Narrow {
    mlir: &'static str,
    storage: &'static str,
    lowered: &'static str,
    make: &'static str,
    table: Option<(&'static str, FloatFormat)>,
}

const FORMATS: [Narrow; 9] = [
    Narrow {
        mlir: "f8E4M3FN",
        storage: "i8",
        lowered: "f8E4M3FN",
        make: TO_E4M3,
        table: Some(("girih_e4m3_values", FloatFormat::E4M3)),
    },
    Narrow {
        mlir: "f8E5M2",
        storage: "i8",
        lowered: "f8E5M2",
        make: TO_E5M2,
        table: Some(("girih_e5m2_values", FloatFormat::E5M2)),
    },
    Narrow {
        mlir: "f6E3M2FN",
        storage: "i6",
        lowered: "f6E3M2FN",
        make: TO_E3M2,
        table: Some(("girih_e3m2_values", FloatFormat::E3M2)),
    },
    Narrow {
        mlir: "f6E2M3FN",
        storage: "i6",
        lowered: "f6E2M3FN",
        make: TO_E2M3,
        table: Some(("girih_e2m3_values", FloatFormat::E2M3)),
    },
    Narrow {
        mlir: "f4E2M1FN",
        storage: "i4",
        lowered: "f4E2M1FN",
        make: TO_E2M1,
        table: Some(("girih_e2m1_values", FloatFormat::E2M1)),
    },
    Narrow {
        mlir: "bf16",
        storage: "i16",
        lowered: "bf16",
        make: TO_BF16,
        table: None,
    },
    Narrow {
        mlir: "f16",
        storage: "i16",
        lowered: "f16",
        make: TO_F16,
        table: None,
    },
    Narrow {
        mlir: "tf32",
        storage: "i32",
        lowered: "f32",
        make: TO_TF32,
        table: None,
    },
    Narrow {
        mlir: "f32",
        storage: "i32",
        lowered: "f32",
        make: TO_F32,
        table: None,
    },
];

fn narrow(ty: &str) -> Option<&'static Narrow> {
    FORMATS.iter().find(|format| format.mlir == ty)
}

/// A format that is read by a table.
fn small(ty: &str) -> Option<&'static Narrow> {
    narrow(ty).filter(|format| format.table.is_some())
}

/// Rewrites every such conversion in the module.
pub(super) fn expand(module: &Module<'_>) -> Result<()> {
    let (mut conversions, mut wrong) = (Vec::new(), None);
    module
        .as_operation()
        .walk(WalkOrder::PreOrder, |operation| match Conversion::of(operation) {
            Ok(conversion) => {
                conversions.extend(conversion.map(|conversion| (operation.to_raw(), conversion)));
                WalkResult::Advance
            }
            Err(error) => {
                wrong = Some(error);
                WalkResult::Interrupt
            }
        });
    if let Some(error) = wrong {
        return Err(error);
    }
    // SAFETY: the context is the module's own, which is alive.
    unsafe {
        mlirDialectHandleLoadDialect(
            mlirGetDialectHandle__llvm__(),
            module.as_operation().context().to_ref().to_raw(),
        )
    };
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
    /// Read a format of the table by `arith.extf`.
    Read(&'static Narrow),
    /// Make a format: from a float (`None`), or by the named conversion from an integer to f64.
    Make(&'static Narrow, Option<&'static str>),
    /// A tf32, which is an f32 by then, as a longer float.
    Widen,
    /// A number of tf32 that is written in the source, or came of folding.
    Constant,
    /// Cut off: the name of LLVM's intrinsic, before the types.
    Whole(&'static str),
}

impl Conversion {
    fn of(operation: OperationRef<'_, '_>) -> Result<Option<Conversion>> {
        let name = operation.name();
        let name = name.as_string_ref();
        let name = name.as_str().unwrap_or("");
        let has_tf32 = |ty: String| ty.contains("tf32");
        let tf32 = operation.operands().any(|v| has_tf32(v.r#type().to_string()))
            || operation.results().any(|v| has_tf32(v.r#type().to_string()));
        if tf32 && !["arith.truncf", "arith.extf", "arith.constant"].contains(&name) {
            return Err(Error::Reference(format!(
                "`{name}` of the reference works on tf32, which arith.truncf gives and arith.extf takes; go on in f32"
            )));
        }
        let Some(target) = operation.result(0).ok().map(|v| v.r#type().to_string()) else {
            return Ok(None);
        };
        if name == "arith.constant" {
            return Ok((target == "tf32").then_some(Conversion::Constant));
        }
        let Some(source) = operation.operand(0).ok().map(|v| v.r#type().to_string()) else {
            return Ok(None);
        };
        Ok(match name {
            "arith.extf" if source == "tf32" => Some(Conversion::Widen),
            "arith.extf" => small(&source).map(Conversion::Read),
            "arith.fptosi" => Some(Conversion::Whole("llvm.fptosi.sat")),
            "arith.fptoui" => Some(Conversion::Whole("llvm.fptoui.sat")),
            "arith.sitofp" => small(&target).map(|format| Conversion::Make(format, Some("arith.sitofp"))),
            "arith.uitofp" => small(&target).map(|format| Conversion::Make(format, Some("arith.uitofp"))),
            "arith.truncf" => narrow(&target)
                .filter(|format| {
                    let is_half = format.storage == "i16";
                    format.table.is_some()
                        || format.mlir == "tf32"
                        || is_half && source == "f64"
                        || rounding(operation) != 0
                })
                .map(|format| Conversion::Make(format, None)),
            _ => None,
        })
    }
}

/// MLIR's number of the direction in which an operation rounds; 0, to nearest even, where it says nothing.
pub(super) fn rounding(operation: OperationRef<'_, '_>) -> i64 {
    let mode = operation.attribute("roundingmode").ok();
    let mode = mode.and_then(|mode| IntegerAttribute::try_from(mode).ok());
    mode.map_or(0, |mode| mode.value())
}

fn rewrite(operation: OperationRef<'_, '_>, conversion: &Conversion, used: &mut BTreeSet<&'static str>) -> Result<()> {
    let lost = |_| Error::Reference("a conversion between number formats could not be expanded".to_owned());
    let build = Builder { operation };
    let target = operation.result(0).map_err(lost)?;
    let source = || operation.operand(0).map_err(lost);
    let value = match conversion {
        Conversion::Constant => {
            let value = operation.attribute("value").map_err(lost)?;
            let value = FloatAttribute::try_from(value).map_err(lost)?.value() as f32;
            let text = format!("0x{:08X} : f32", value.to_bits());
            build.value("arith.constant", &[], "f32", &[("value", &text)])?
        }
        Conversion::Widen => match target.r#type().to_string().as_str() {
            "f32" => source()?,
            ty => build.value("arith.extf", &[source()?], ty, &[])?,
        },
        Conversion::Read(format) => {
            let value = read(&build, format, source()?, used)?;
            match target.r#type().to_string().as_str() {
                "f32" => value,
                "f64" => build.value("arith.extf", &[value], "f64", &[])?,
                ty => match small(ty) {
                    Some(other) => {
                        let wide = build.value("arith.extf", &[value], "f64", &[])?;
                        make(&build, other, wide, 0, used)?
                    }
                    // Both halves hold every such value exactly.
                    None => build.value("arith.truncf", &[value], ty, &[])?,
                },
            }
        }
        Conversion::Whole(intrinsic) => {
            let (source, ty) = (source()?, target.r#type().to_string());
            let from = source.r#type().to_string();
            let (source, from) = match (small(&from), from.as_str()) {
                (Some(format), _) => (read(&build, format, source, used)?, "f32".to_owned()),
                (_, from) if from.contains("f16") => {
                    let wide = from.replace("bf16", "f32").replace("f16", "f32");
                    (build.value("arith.extf", &[source], &wide, &[])?, wide)
                }
                _ => (source, from),
            };
            let (Some(to), Some(of)) = (mangled(&ty), mangled(&from)) else {
                // Vectors of several dimensions are taken apart later, and keep the operation.
                return Ok(());
            };
            let attributes = [
                ("intrin", &*format!("\"{intrinsic}.{to}.{of}\"")),
                ("operandSegmentSizes", "array<i32: 1, 0>"),
                ("op_bundle_sizes", "array<i32>"),
            ];
            build.value("llvm.call_intrinsic", &[source], &ty, &attributes)?
        }
        Conversion::Make(format, from_integer) => {
            let source = source()?;
            let wide = match from_integer {
                Some(name) => build.value(name, &[source], "f64", &[])?,
                None => double(&build, source, used)?,
            };
            make(&build, format, wide, rounding(operation), used)?
        }
    };
    // SAFETY: both values are alive, and of one type but for tf32, whose users are rewritten too; the operation has no uses
    // left when it is destroyed.
    unsafe {
        mlirValueReplaceAllUsesOfWith(target.to_raw(), value.to_raw());
        mlirOperationDestroy(operation.to_raw());
    }
    Ok(())
}

/// A float of any format, which f64 holds exactly. To go through a longer one on the way to a shorter one is left out before
/// this, so that a float of 8 bits may become one of 6 at once.
fn double<'c: 'a, 'a>(
    build: &Builder<'c, 'a>,
    source: Value<'c, 'a>,
    used: &mut BTreeSet<&'static str>,
) -> Result<Value<'c, 'a>> {
    let ty = source.r#type().to_string();
    let source = match small(&ty) {
        Some(format) => read(build, format, source, used)?,
        None if ty == "f64" => return Ok(source),
        None => source,
    };
    build.value("arith.extf", &[source], "f64", &[])
}

/// An f64 in a format, rounded in the direction of MLIR's number `mode`.
fn make<'c: 'a, 'a>(
    build: &Builder<'c, 'a>,
    format: &Narrow,
    wide: Value<'c, 'a>,
    mode: i64,
    used: &mut BTreeSet<&'static str>,
) -> Result<Value<'c, 'a>> {
    used.insert(format.make);
    let mode = build.value("arith.constant", &[], "i32", &[("value", &format!("{mode} : i32"))])?;
    let callee = format!("@{}", format.make);
    let word = build.value("func.call", &[wide, mode], "i32", &[("callee", &callee)])?;
    let bits = match format.storage {
        "i32" => word,
        storage => build.value("arith.trunci", &[word], storage, &[])?,
    };
    build.value("arith.bitcast", &[bits], format.lowered, &[])
}

/// A number of a format that has a table, as f32.
fn read<'c: 'a, 'a>(
    build: &Builder<'c, 'a>,
    format: &Narrow,
    source: Value<'c, 'a>,
    used: &mut BTreeSet<&'static str>,
) -> Result<Value<'c, 'a>> {
    let (table, _) = format.table.unwrap_or((format.make, FloatFormat::E4M3));
    used.insert(table);
    let bits = build.value("arith.bitcast", &[source], format.storage, &[])?;
    let code = build.value("arith.index_castui", &[bits], "index", &[])?;
    let table = build.value("memref.get_global", &[], TABLE_TYPE, &[("name", &format!("@{table}"))])?;
    build.value("memref.load", &[table, code], "f32", &[])
}

/// A type in the name of an intrinsic; `None` for vectors of several dimensions.
fn mangled(ty: &str) -> Option<String> {
    let Some(inside) = ty.strip_prefix("vector<").and_then(|rest| rest.strip_suffix('>')) else {
        return Some(ty.to_owned());
    };
    let (size, element) = inside.split_once('x')?;
    (!element.contains('x') && !size.contains('[')).then(|| format!("v{size}{element}"))
}

const TABLE_TYPE: &str = "memref<256xf32>";

fn declare(module: &Module<'_>, format: &Narrow) -> Result<()> {
    append(module, &format!("func.func private @{}(f64, i32) -> i32", format.make))
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
    let context = girih_ir::context(module.context());
    let parsed = Module::parse(context, text)
        .ok_or_else(|| Error::Reference(format!("`{text}` could not be added to the reference")))?;
    let operation = parsed.body().first_operation();
    let operation = operation.ok_or_else(|| Error::Reference(format!("`{text}` holds no operation")))?;
    // SAFETY: a clone is ours until the block takes it.
    let copy = unsafe { Operation::from_raw(mlir_sys::mlirOperationClone(operation.to_raw())) };
    module.body().append_operation(copy);
    Ok(())
}
