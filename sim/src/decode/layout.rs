//! Addresses of what a module declares: globals, constants, parameter blocks.
use super::{Lines, function_table};
use crate::isa::FUNCTION_BASE;
use crate::memory::{Access, GlobalMemory};
use crate::ptx::{Expr, Function, Init, Item, Module, PtxError, SourceLines, Space, Statement, Variable};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A parameter's place in its block.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Offset in bytes.
    pub offset: u32,
    /// Length in bytes.
    pub bytes: u32,
}

/// A module whose variables have addresses.
pub struct Layout<'m> {
    /// The tree.
    pub module: &'m Module<'m>,
    /// Functions and kernels, numbered.
    pub functions: Vec<&'m Function<'m>>,
    /// Their numbers.
    names: BTreeMap<&'m str, usize>,
    aliases: BTreeMap<&'m str, &'m str>,
    /// Address of a `.global` or `.const` variable by the byte offset of its declaration.
    pub addresses: HashMap<usize, u64>,
    /// Parameters of each function: in the parameter block of a kernel, in the frame of a function.
    pub params: Vec<Vec<Param>>,
    /// Address of the parameter block of each kernel; 0 for functions.
    pub param_blocks: Vec<u64>,
    /// Allocations to free with the module.
    pub allocations: Vec<u64>,
    pub(crate) lines: Lines,
    /// Where its lines came from.
    pub source: Arc<SourceLines>,
}

impl Layout<'_> {
    /// Number of a function.
    pub fn function(&self, name: &str) -> Option<usize> {
        self.names.get(self.alias(name).unwrap_or(name)).copied()
    }
    /// What an alias stands for.
    pub fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).copied()
    }
}

/// Bytes of one element of a declared type, or an error for what is no memory type.
pub(crate) fn element_bytes(ty: &str) -> Option<u64> {
    Some(match ty {
        "b8" | "u8" | "s8" => 1,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" => 4,
        "b64" | "u64" | "s64" | "f64" | "texref" | "samplerref" | "surfref" => 8,
        "b128" => 16,
        _ => return None,
    })
}

const MAX_VARIABLE_BYTES: u64 = 1 << 40;

/// Bytes (`None` for `[]` without an initialiser) and alignment of a variable in memory.
pub(crate) fn size_of(text: &str, variable: &Variable<'_>) -> Result<(Option<u64>, u64), PtxError> {
    let fail = |message: String| Err(PtxError::new(text, variable.at, message));
    let Some(element) = element_bytes(variable.ty) else {
        return fail(format!(
            "`{}`: type .{} cannot be in memory",
            variable.name, variable.ty
        ));
    };
    let natural = element * u64::from(variable.lanes);
    let align = u64::from(variable.align.unwrap_or(natural as u32)).max(1);
    if !align.is_power_of_two() || align > 1 << 16 {
        return fail(format!(
            "`{}`: alignment {align} is no power of two up to 65536",
            variable.name
        ));
    }
    let mut bytes = Some(natural);
    for (index, dim) in variable.dims.iter().enumerate() {
        let count = match (dim, &variable.init) {
            (Some(n), _) => Some(*n),
            (None, Some(Init::List(list))) if index == 0 => Some(list.len() as u64),
            (None, None) if index == 0 => None,
            _ => {
                return fail(format!(
                    "`{}`: only the first dimension may be left out, and `[]` needs a list or .extern",
                    variable.name
                ));
            }
        };
        bytes = match (bytes, count) {
            (Some(b), Some(n)) => match b.checked_mul(n).filter(|t| *t <= MAX_VARIABLE_BYTES) {
                Some(total) => Some(total),
                None => return fail(format!("`{}` is larger than {MAX_VARIABLE_BYTES} bytes", variable.name)),
            },
            _ => None,
        };
    }
    Ok((bytes, align))
}

/// Gives every variable of a module its address and its initial bytes.
pub fn lay_out<'m>(text: &str, module: &'m Module<'m>, memory: &mut GlobalMemory) -> Result<Layout<'m>, PtxError> {
    let (functions, names) = function_table(text, module)?;
    let mut layout = Layout {
        module,
        functions,
        names,
        aliases: BTreeMap::new(),
        addresses: HashMap::new(),
        params: Vec::new(),
        param_blocks: Vec::new(),
        allocations: Vec::new(),
        lines: Lines::new(text),
        source: Arc::new(SourceLines::new(text, module)),
    };
    let result = fill(text, module, memory, &mut layout);
    if let Err(error) = result {
        layout.allocations.iter().for_each(|base| {
            memory.free(*base);
        });
        return Err(error);
    }
    Ok(layout)
}

fn fill<'m>(
    text: &str,
    module: &'m Module<'m>,
    memory: &mut GlobalMemory,
    layout: &mut Layout<'m>,
) -> Result<(), PtxError> {
    let mut variables: Vec<&Variable<'_>> = Vec::new();
    let mut by_name: HashMap<&str, u64> = HashMap::new();
    for item in &module.items {
        match item {
            Item::Variables(list) => variables.extend(list),
            Item::Alias(new, old) => {
                layout.aliases.insert(new, old);
            }
            _ => {}
        }
    }
    let module_scope = variables.len();
    for function in &layout.functions {
        super::walk(function.body.as_deref().unwrap_or_default(), &mut |statement| {
            if let Statement::Variables(list) = statement {
                variables.extend(list);
            }
        });
    }
    variables = variables
        .into_iter()
        .enumerate()
        .filter(|(_, v)| matches!(v.space, Space::Global | Space::Const))
        .map(|(index, v)| {
            by_name
                .entry(v.name)
                .or_insert(if index < module_scope { 0 } else { u64::MAX });
            v
        })
        .collect();
    for variable in &variables {
        let (bytes, align) = size_of(text, variable)?;
        let access = if variable.space == Space::Const {
            Access::ReadOnly
        } else {
            Access::ReadWrite
        };
        let total = bytes.unwrap_or(0).max(1) * u64::from(variable.count.unwrap_or(1));
        let address = memory
            .allocate(total, align, access)
            .map_err(|fault| PtxError::new(text, variable.at, fault.detail))?;
        layout.allocations.push(address);
        layout.addresses.insert(variable.at, address);
        by_name.insert(variable.name, address);
    }
    for variable in &variables {
        if let Some(init) = &variable.init {
            let bytes = initial_bytes(text, variable, init, layout, &by_name)?;
            memory
                .initialise(layout.addresses[&variable.at], &bytes)
                .map_err(|fault| PtxError::new(text, variable.at, fault.detail))?;
        }
    }
    for function in layout.functions.clone() {
        let mut params = Vec::new();
        let mut end = 0u64;
        for param in &function.params {
            let (bytes, align) = if param.space == Space::Reg {
                (Some(0), 1)
            } else {
                size_of(text, param)?
            };
            let bytes = bytes.unwrap_or(0);
            end = end.next_multiple_of(align);
            params.push(Param {
                offset: end as u32,
                bytes: bytes as u32,
            });
            end += bytes;
            if end > 32764 {
                return Err(PtxError::new(
                    text,
                    param.at,
                    format!(
                        "`{}` brings the parameters to {end} bytes, at most 32764 are allowed",
                        param.name
                    ),
                ));
            }
        }
        layout.params.push(params);
        let block = if function.entry {
            let address = memory
                .allocate(end.max(8), 128, Access::ReadOnly)
                .map_err(|fault| PtxError::new(text, function.at, fault.detail))?;
            layout.allocations.push(address);
            address
        } else {
            0
        };
        layout.param_blocks.push(block);
    }
    Ok(())
}

fn initial_bytes(
    text: &str,
    variable: &Variable<'_>,
    init: &Init<'_>,
    layout: &Layout<'_>,
    addresses: &HashMap<&str, u64>,
) -> Result<Vec<u8>, PtxError> {
    let (total, _) = size_of(text, variable)?;
    let element = element_bytes(variable.ty).unwrap_or(1) as usize;
    let mut out = vec![0u8; total.unwrap_or(0) as usize];
    let mut shape: Vec<usize> = Vec::new();
    for (index, dim) in variable.dims.iter().enumerate() {
        shape.push(match (dim, init) {
            (Some(n), _) => *n as usize,
            (None, Init::List(list)) if index == 0 => list.len(),
            _ => 1,
        });
    }
    if variable.lanes > 1 {
        shape.push(variable.lanes as usize);
    }
    place(text, variable, init, &shape, element, &mut out, &|expr| {
        resolve(text, variable, expr, layout, addresses)
    })?;
    Ok(out)
}

type Resolve<'f> = &'f dyn Fn(&Expr<'_>) -> Result<u64, PtxError>;

fn place(
    text: &str,
    variable: &Variable<'_>,
    init: &Init<'_>,
    shape: &[usize],
    element: usize,
    out: &mut [u8],
    resolve: Resolve<'_>,
) -> Result<(), PtxError> {
    match init {
        Init::Value(expr) => {
            let value = resolve(expr)?;
            let slot = out.get_mut(..element).ok_or_else(|| too_many(text, variable))?;
            let bytes = u128::from(value).to_le_bytes();
            slot.copy_from_slice(&bytes[..element]);
            Ok(())
        }
        Init::List(list) => {
            let count = shape.first().copied().unwrap_or(1);
            if list.len() > count {
                return Err(too_many(text, variable));
            }
            let inner = shape.get(1..).unwrap_or_default();
            let stride = inner.iter().product::<usize>() * element;
            for (index, item) in list.iter().enumerate() {
                let end = out.len().min((index + 1) * stride);
                let part = out
                    .get_mut(index * stride..end)
                    .ok_or_else(|| too_many(text, variable))?;
                place(text, variable, item, inner, element, part, resolve)?;
            }
            Ok(())
        }
    }
}

fn too_many(text: &str, variable: &Variable<'_>) -> PtxError {
    PtxError::new(
        text,
        variable.at,
        format!("`{}` has more initial values than elements", variable.name),
    )
}

fn resolve(
    text: &str,
    variable: &Variable<'_>,
    expr: &Expr<'_>,
    layout: &Layout<'_>,
    addresses: &HashMap<&str, u64>,
) -> Result<u64, PtxError> {
    let ty = variable.ty;
    Ok(match expr {
        Expr::Int(v) if ty == "f32" => u64::from((*v as f32).to_bits()),
        Expr::Int(v) if ty == "f64" => (*v as f64).to_bits(),
        Expr::Int(v) => *v as u64,
        Expr::F32(bits) if ty == "f64" => f64::from(f32::from_bits(*bits)).to_bits(),
        Expr::F32(bits) => u64::from(*bits),
        Expr::F64(bits) if ty == "f32" => u64::from((f64::from_bits(*bits) as f32).to_bits()),
        Expr::F64(bits) => *bits,
        Expr::Symbol(name, offset) | Expr::Generic(name, offset) => {
            let base = match (addresses.get(name), layout.function(name)) {
                (Some(address), _) => *address,
                (None, Some(index)) => FUNCTION_BASE + 16 * index as u64,
                (None, None) => {
                    return Err(PtxError::new(
                        text,
                        variable.at,
                        format!(
                            "initialiser of `{}`: `{name}` is no .global or .const variable and no function",
                            variable.name
                        ),
                    ));
                }
            };
            base.wrapping_add_signed(*offset)
        }
        Expr::Mask(mask, inner) => {
            if !(0..8).any(|k| *mask == 0xff << (8 * k)) {
                return Err(PtxError::new(
                    text,
                    variable.at,
                    format!("mask {mask:#x} is not 0xff shifted by whole bytes"),
                ));
            }
            resolve(text, variable, inner, layout, addresses)?.wrapping_shr(mask.trailing_zeros()) & 0xff
        }
    })
}
