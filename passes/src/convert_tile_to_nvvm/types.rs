//! What types become.
use girih_dialects::{
    nvvm::is_tf32,
    tile::{
        layouts::{elements_per_thread, is_laid_out},
        spaces::{is_global, is_shared_cluster, shared_of},
        types::{InFlightType, TensorMapType},
    },
};
use girih_ir::{
    conversion::{Converted, TypeConverter},
    ext::DYNAMIC,
    melior::ir::r#type::IntegerType,
    mlir_sys::*,
    prelude::*,
};

/// The context that a type came from.
fn context_of<'c>(t: Type<'c>) -> &'c Context {
    // SAFETY: a type lives no longer than its context.
    girih_ir::context(unsafe { ContextRef::from_raw(mlirTypeGetContext(t.to_raw())) })
}

fn pointer<'c>(t: Type<'c>, space: u32) -> Type<'c> {
    // SAFETY: the context is alive, and has the dialect that the pass declares.
    unsafe { Type::from_raw(mlirLLVMPointerTypeGet(mlirTypeGetContext(t.to_raw()), space)) }
}

/// f32, in which the bits of a tf32 travel.
fn single<'c>(t: Type<'c>) -> Type<'c> {
    Type::float32(context_of(t))
}

/// How an accumulator in flight is held in registers.
pub struct InFlight<'c> {
    /// Type of one register: f32 or i32.
    pub register: Type<'c>,
    /// Registers of a thread.
    pub registers: usize,
    /// Elements in a register: 2 for f16, else 1.
    pub packed: usize,
}

/// The registers of an accumulator, by its tensor type.
pub fn in_flight<'c>(tensor: Type<'c>) -> Option<InFlight<'c>> {
    let elements = elements_per_thread(tensor)?;
    let element = tensor.element_type()?;
    let i32_type: Type = IntegerType::new(context_of(tensor), 32).into();
    Some(match element.bit_width()? {
        16 => InFlight {
            register: i32_type,
            registers: elements / 2,
            packed: 2,
        },
        _ => InFlight {
            register: element,
            registers: elements,
            packed: 1,
        },
    })
}

/// Sizes or strides of a memref that are known only at run time.
pub fn dynamic(values: &[i64]) -> usize {
    values.iter().filter(|v| **v == DYNAMIC).count()
}

/// The type converter of `convert-tile-to-nvvm`.
pub fn type_converter() -> TypeConverter {
    let types = TypeConverter::new();
    types.add(|t| {
        if t.is_memref_type() {
            // tf32 is no type of memory: its 19 bits travel as f32.
            if t.element_type().and_then(|e| e.bit_width()) == Some(19) {
                return Converted::Impossible;
            }
            if shared_of(t).is_some() {
                return match t.shape() {
                    Some(s) if !s.contains(&DYNAMIC) => Converted::To(vec![pointer(t, 3)]),
                    _ => Converted::Impossible,
                };
            }
            if is_shared_cluster(t) {
                return match t.shape() {
                    Some(s) if !s.contains(&DYNAMIC) => Converted::To(vec![pointer(t, 7)]),
                    _ => Converted::Impossible,
                };
            }
            if !is_global(t) {
                return Converted::NotMine;
            }
            let (Some(shape), Some((strides, _))) = (t.shape(), t.strides_and_offset()) else {
                return Converted::Impossible;
            };
            let mut out = vec![pointer(t, 1)];
            out.resize(
                1 + dynamic(&shape) + dynamic(&strides),
                IntegerType::new(context_of(t), 64).into(),
            );
            return Converted::To(out);
        }
        if TensorMapType::of(t).is_some() {
            return Converted::To(vec![pointer(t, 0)]);
        }
        if let Some(f) = InFlightType::of(t) {
            return match in_flight(f.tensor()) {
                Some(f) => Converted::To(vec![f.register; f.registers]),
                None => Converted::Impossible,
            };
        }
        if is_laid_out(t) {
            return match (elements_per_thread(t), t.element_type()) {
                (Some(n), Some(e)) if is_tf32(e) => Converted::To(vec![single(t); n]),
                (Some(n), Some(e)) => Converted::To(vec![e; n]),
                _ => Converted::Impossible,
            };
        }
        if is_tf32(t) {
            return Converted::To(vec![single(t)]);
        }
        // Bytes, as LLVM has 8-bit floats.
        let small = |e: &Type<'_>| e.is_float_type() && e.bit_width() == Some(8);
        // SAFETY: the type is alive.
        let is_vector = unsafe { mlirTypeIsAVector(t.to_raw()) };
        if is_vector && t.element_type().as_ref().is_some_and(small) {
            let shape = t.shape().unwrap_or_default();
            let byte: Type = IntegerType::new(context_of(t), 8).into();
            // SAFETY: the shape is that of a vector type.
            let bytes =
                unsafe { Type::from_raw(mlirVectorTypeGet(shape.len() as isize, shape.as_ptr(), byte.to_raw())) };
            return Converted::To(vec![bytes]);
        }
        Converted::NotMine
    });
    types
}
