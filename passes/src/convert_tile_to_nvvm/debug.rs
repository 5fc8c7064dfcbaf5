//! Text and assertions: calls of `vprintf` and `__assertfail`, which CUDA provides.
//!
//! Every argument of `vprintf` has 8 bytes: integers are widened, floats are doubles. Texts are globals of the module.
use super::{Matched, distributed::Coordinates, fragment, lower};
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::{
        distribution::Distribution,
        layouts::{elements_per_thread, layout_of},
        ops::{
            debug::{Assert, Piece, Print, Style, own_arguments, pieces},
            kernel::Kernel,
        },
        verify::role_of,
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    ext::BlockExt,
    kind::{I64, Kind, Str, SymbolName},
    module::place_of,
    op::OpView,
    prelude::*,
    rewrite::AtEnd,
};

/// CUDA's functions.
const VPRINTF: &str = "vprintf";
const ASSERT_FAIL: &str = "__assertfail";
/// The op that a text becomes.
const GLOBAL: &str = "llvm.mlir.global";
/// Address space of texts.
const GLOBAL_SPACE: i32 = 1;

/// Puts what a kernel's texts need into the module of lowered bodies, and finds which lines one thread speaks for all.
pub fn prepare<'c>(kernel: Kernel<'c, 'c>, device: BlockRef<'c, 'c>, taken: &mut Vec<String>) {
    for op in kernel.op().nested_ops() {
        let (print, assertion) = (op.cast::<Print>(), op.cast::<Assert>());
        if print.is_none() && assertion.is_none() {
            continue;
        }
        if rank_of_any(op).is_none() && crate::block_uniform::is_uniform(op, &op.operand_values()) {
            let speaker = role_of(op).map_or(0, |role| 32 * role.first_warp);
            op.set_attr("speaker", I64::to_attribute(&speaker, op.ctx()));
        }
        let inside = AtEnd(device);
        let e = Emit::new(&inside, op.location());
        declare(&e, device, VPRINTF, "!llvm.func<i32 (ptr, ptr)>");
        let mut texts: Vec<String> = print.iter().map(line_of).collect();
        if let Some(assertion) = assertion {
            declare(&e, device, ASSERT_FAIL, "!llvm.func<void (ptr, ptr, i32, ptr, i64)>");
            texts.push(failure(&assertion));
            texts.extend(assertion_texts(&assertion, &kernel.sym_name()));
        }
        for text in texts {
            define(&e, device, &text, taken);
        }
    }
}

fn declare<'c>(e: &Emit<'c, '_>, device: BlockRef<'c, 'c>, name: &str, signature: &str) {
    let is_it = |op: &OperationRef<'c, 'c>| {
        op.full_name() == "llvm.func"
            && op.attr("sym_name").and_then(SymbolName::from_attribute).as_deref() == Some(name)
    };
    if device.op_list().iter().any(is_it) {
        return;
    }
    let signature = Type::parse(e.context(), signature).expect("a type of this code");
    let attributes = [
        ("sym_name", e.str_attr(name)),
        ("function_type", e.type_attr(signature)),
        ("CConv", e.attr("#llvm.cconv<ccc>")),
        ("linkage", e.attr("#llvm.linkage<external>")),
        ("visibility_", e.i64_attr(0)),
    ];
    e.op_with_regions("llvm.func", &[], &[], &attributes, vec![Region::new()]);
}

/// The global that holds a text.
fn global<'c>(device: BlockRef<'c, 'c>, text: &str) -> Option<String> {
    let wanted = format!("{text}\0");
    let found = device.op_list().into_iter().find(|op| {
        op.full_name() == GLOBAL && op.attr("value").and_then(Str::from_attribute).as_ref() == Some(&wanted)
    })?;
    found.attr("sym_name").and_then(SymbolName::from_attribute)
}

fn define<'c>(e: &Emit<'c, '_>, device: BlockRef<'c, 'c>, text: &str, taken: &mut Vec<String>) {
    if global(device, text).is_some() {
        return;
    }
    let mut name = format!(
        "text_{}",
        device.op_list().iter().filter(|op| op.full_name() == GLOBAL).count()
    );
    while taken.contains(&name) {
        name.push('_');
    }
    taken.push(name.clone());
    let array =
        Type::parse(e.context(), &format!("!llvm.array<{} x i8>", text.len() + 1)).expect("a type of this code");
    let attributes = [
        ("sym_name", e.str_attr(&name)),
        ("global_type", e.type_attr(array)),
        ("linkage", e.attr("#llvm.linkage<internal>")),
        ("addr_space", e.i32_attr(GLOBAL_SPACE)),
        ("constant", e.unit_attr()),
        ("value", e.str_attr(&format!("{text}\0"))),
    ];
    e.op_with_regions(GLOBAL, &[], &[], &attributes, vec![Region::new()]);
}

fn rank_of(v: V<'_>) -> Option<usize> {
    let t = v.r#type();
    t.is_ranked_tensor_type().then(|| t.shape().map_or(0, |s| s.len()))
}
fn rank_of_any(op: OperationRef<'_, '_>) -> Option<usize> {
    op.operand_values().into_iter().find_map(rank_of)
}

/// A text in which `%` stands for itself.
fn escaped(text: &str) -> String {
    text.replace('%', "%%")
}

/// Where a line is from: the block, then a thread or coordinates unless one thread speaks for all.
fn origin(rank: Option<usize>, once: bool) -> String {
    let block = "block (%lld, %lld, %lld)";
    match rank {
        Some(rank) => format!("{block}, [{}]: ", vec!["%lld"; rank].join(", ")),
        None if once => format!("{block}: "),
        None => format!("{block}, thread %lld: "),
    }
}

/// The format of a line, as C has it.
fn line_of(print: &Print<'_, '_>) -> String {
    let mut line = origin(rank_of_any(print.op()), print.speaker().is_some());
    let arguments = print.arguments();
    let mut arguments = arguments.iter();
    for piece in pieces(&print.format()).unwrap_or_default() {
        match piece {
            Piece::Text(text) => line += &escaped(&text),
            Piece::Argument(style) => line += conversion(number_of(arguments.next().map(|a| a.r#type())), style),
        }
    }
    line + "\n"
}

fn number_of(t: Option<Type<'_>>) -> Option<Type<'_>> {
    t.map(|t| t.element_type().unwrap_or(t))
}

/// C's conversion of a number: digits enough to tell floats apart.
fn conversion(number: Option<Type<'_>>, style: Style) -> &'static str {
    let float = number.filter(|t| t.is_float_type()).and_then(|t| t.bit_width());
    match (float, style) {
        (Some(64), _) => "%.17g",
        (Some(32), _) => "%.9g",
        (Some(_), _) => "%g",
        (None, Style::Signed) => "%lld",
        (None, Style::Unsigned) => "%llu",
        (None, Style::Hexadecimal) => "%llx",
    }
}

/// The place of an op in its file, whose folder no output may depend on.
fn place(op: OperationRef<'_, '_>) -> (String, u32, u32) {
    let (file, line, column) = place_of(op.location().to_raw()).unwrap_or(("unknown".to_owned(), 0, 0));
    (file.rsplit('/').next().unwrap_or_default().to_owned(), line, column)
}

/// What is printed where an assertion fails.
fn failure(assertion: &Assert<'_, '_>) -> String {
    let (file, line, column) = place(assertion.op());
    let start = format!("{file}:{line}:{column}: assertion failed: {}, in ", assertion.message());
    let origin = origin(rank_of(assertion.condition()), assertion.speaker().is_some());
    format!("{}{}\n", escaped(&start), origin.trim_end_matches(": "))
}

/// Message, file and kernel, as `__assertfail` takes them.
fn assertion_texts(assertion: &Assert<'_, '_>, kernel: &str) -> [String; 3] {
    [assertion.message(), place(assertion.op()).0, kernel.to_owned()]
}

/// A thread's coordinates in a tile, register by register.
enum Places<'c> {
    Distributed(Coordinates<'c>),
    Fragment(fragment::Held<'c>),
}

impl<'c> Places<'c> {
    fn of(e: &Emit<'c, '_>, t: Type<'c>) -> Option<Places<'c>> {
        if layout_of(t).is_some() {
            return Some(Places::Fragment(fragment::held(e, t)));
        }
        Distribution::of(t).map(|d| Places::Distributed(Coordinates::new(e, d)))
    }
    /// Coordinates of what a register holds, i64.
    fn at(&self, e: &Emit<'c, '_>, register: usize) -> Vec<V<'c>> {
        match self {
            Places::Distributed(c) => {
                let rank = c.distribution.shape.len();
                (0..rank).map(|axis| e.zext(c.at(e, register, axis), 64)).collect()
            }
            Places::Fragment(held) => {
                let (row, column) = held.offsets[register];
                let own = |origin, offset: u32| e.offset(origin, i64::from(offset));
                vec![own(held.origin.0, row), own(held.origin.1, column)]
            }
        }
    }
    /// Whether a thread speaks: of those that hold copies one does. `None`: every thread.
    fn speaks(&self, e: &Emit<'c, '_>) -> Option<V<'c>> {
        let Places::Distributed(c) = self else { return None };
        match c.distribution.copy_bits() as i64 {
            0 => None,
            copies => Some(e.cmp(Cmp::Eq, e.mask(e.sreg("tid.x"), copies), e.c32(0))),
        }
    }
}

/// The module around an op of a function.
fn device_of<'c>(op: OperationRef<'c, 'c>) -> Option<BlockRef<'c, 'c>> {
    let mut at = op;
    while at.full_name() != "gpu.module" {
        at = at.parent()?;
    }
    at.region_at(0).entry()
}

/// A generic pointer to a text.
fn text<'c>(e: &Emit<'c, '_>, device: BlockRef<'c, 'c>, text: &str) -> Option<V<'c>> {
    let symbol = e.symbol_attr(&global(device, text)?);
    let address = e.value(
        "llvm.mlir.addressof",
        &[],
        e.ptr(GLOBAL_SPACE as u32),
        &[("global_name", symbol)],
    );
    Some(e.addrspace_cast(address, 0))
}

fn call<'c>(e: &Emit<'c, '_>, callee: &str, operands: &[V<'c>], results: &[Type<'c>]) {
    let attributes = [
        ("callee", e.symbol_attr(callee)),
        ("operandSegmentSizes", e.i32s_attr(&[operands.len() as i32, 0])),
        ("op_bundle_sizes", e.i32s_attr(&[])),
    ];
    e.op("llvm.call", operands, results, &attributes);
}

/// What lines of one op share: their format, and room for arguments on the thread's stack.
struct Line<'c> {
    format: V<'c>,
    buffer: V<'c>,
    block: Vec<V<'c>>,
}

impl<'c> Line<'c> {
    /// `arguments` are those beside the block's number.
    fn new(
        op: OperationRef<'c, 'c>,
        format: &str,
        arguments: usize,
        rewriter: &ConversionRewriter<'c>,
    ) -> Option<Self> {
        let device = device_of(op)?;
        // Room on the stack is taken once, however often a loop comes here.
        rewriter.set_insertion_before(super::index::function_start(op)?);
        let e = Emit::new(rewriter, op.location());
        let room = Type::parse(e.context(), &format!("!llvm.array<{} x i64>", 3 + arguments))?;
        let attributes = [("elem_type", e.type_attr(room)), ("alignment", e.i64_attr(8))];
        let buffer = e.value("llvm.alloca", &[e.c32(1)], e.ptr(0), &attributes);
        rewriter.set_insertion_before(op);
        let ids = ["ctaid.x", "ctaid.y", "ctaid.z"];
        Some(Line {
            format: text(&e, device, format)?,
            buffer,
            block: ids.map(|id| e.zext(e.sreg(id), 64)).to_vec(),
        })
    }
    fn say(&self, e: &Emit<'c, '_>, arguments: &[V<'c>]) {
        for (i, v) in self.block.iter().chain(arguments).enumerate() {
            e.store(&[*v], e.byte_offset_by(self.buffer, 8 * i as i64), 8);
        }
        call(e, VPRINTF, &[self.format, self.buffer], &[e.i32_type()]);
    }
}

/// A number in the 8 bytes that `vprintf` takes.
fn widened<'c>(e: &Emit<'c, '_>, v: V<'c>, style: Style) -> V<'c> {
    let t = v.r#type();
    let (double, long) = (Type::float64(e.context()), e.i64_type());
    let name = match t.bit_width() {
        None if style == Style::Signed => "arith.index_cast",
        None => "arith.index_castui",
        Some(64) => return v,
        Some(bits) if t.is_float_type() => {
            // What is narrower than f16 has no way to f64 but through f32.
            let single = Type::float32(e.context());
            let v = match bits {
                16 | 32 => v,
                _ => e.value("arith.extf", &[v], single, &[]),
            };
            return e.value("arith.extf", &[v], double, &[]);
        }
        Some(2..) if style == Style::Signed => "arith.extsi",
        Some(_) => "arith.extui",
    };
    e.value(name, &[v], long, &[])
}

/// Does something in the thread that speaks for all, or in every one.
fn if_speaks<'c>(e: &Emit<'c, '_>, speaks: Option<V<'c>>, say: impl FnOnce(&Emit<'c, '_>)) {
    match speaks {
        Some(speaks) => e.if_then(speaks, |e| say(&e)),
        None => say(e),
    }
}

fn is_thread<'c>(e: &Emit<'c, '_>, thread: i64) -> V<'c> {
    e.cmp(Cmp::Eq, e.sreg("tid.x"), e.c32(thread))
}

/// What a thread says of itself.
fn own_number<'c>(e: &Emit<'c, '_>, once: bool) -> Vec<V<'c>> {
    if once {
        vec![]
    } else {
        vec![e.zext(e.sreg("tid.x"), 64)]
    }
}

fn print<'c>(op: Print<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let (arguments, speaker) = (op.arguments(), op.speaker());
    let once = speaker.is_some();
    let tile = arguments.iter().map(|a| a.r#type()).find(|t| t.is_ranked_tensor_type());
    let styles = pieces(&op.format())
        .unwrap_or_default()
        .into_iter()
        .filter_map(|p| match p {
            Piece::Argument(style) => Some(style),
            Piece::Text(_) => None,
        });
    let styles: Vec<Style> = styles.collect();
    let count = arguments.len() + own_arguments(rank_of_any(op.op()).unwrap_or(1)) - 3;
    let Some(line) = Line::new(op.op(), &line_of(&op), count, rewriter) else {
        return Err(rewriter.no_match(op.op(), "not in a lowered kernel"));
    };
    let e = Emit::new(rewriter, op.op().location());
    let values = |e: &Emit<'c, '_>, register: usize| -> Vec<V<'c>> {
        (0..arguments.len())
            .map(|i| {
                let own = operands.get(i);
                widened(e, own[if own.len() == 1 { 0 } else { register }], styles[i])
            })
            .collect()
    };
    let Some(tile) = tile else {
        let speaks = speaker.map(|thread| is_thread(&e, thread));
        if_speaks(&e, speaks, |e| {
            line.say(e, &[own_number(e, once), values(e, 0)].concat())
        });
        rewriter.erase(op.op());
        return Ok(());
    };
    let (Some(places), Some(n)) = (Places::of(&e, tile), elements_per_thread(tile)) else {
        return Err(rewriter.no_match(op.op(), "no layout"));
    };
    let speaks = places.speaks(&e);
    let (extent, shape) = (op.extent(), tile.shape().unwrap_or_default());
    if_speaks(&e, speaks, |e| {
        for r in 0..n {
            let at = places.at(e, r);
            let extent = extent.iter().flatten().zip(&shape).zip(&at);
            let shown = extent.filter(|((n, size), _)| n != size);
            let shown = shown.map(|((n, _), c)| e.cmp(Cmp::Slt, *c, e.c64(*n)));
            let shown = shown.reduce(|a, b| e.and(a, b));
            if_speaks(e, shown, |e| line.say(e, &[at, values(e, r)].concat()));
        }
    });
    rewriter.erase(op.op());
    Ok(())
}

fn assert<'c>(op: Assert<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let (tile, speaker) = (op.condition().r#type(), op.speaker());
    let once = speaker.is_some();
    let rank = rank_of(op.condition());
    let line = Line::new(op.op(), &failure(&op), own_arguments(rank.unwrap_or(1)) - 3, rewriter);
    let kernel = super::index::function_start(op.op()).and_then(|first| first.parent());
    let kernel = kernel.and_then(|f| f.attr("sym_name").and_then(SymbolName::from_attribute));
    let (Some(line), Some(device), Some(kernel)) = (line, device_of(op.op()), kernel) else {
        return Err(rewriter.no_match(op.op(), "not in a lowered kernel"));
    };
    let e = Emit::new(rewriter, op.op().location());
    let conditions = operands.get(0).to_vec();
    let not = |e: &Emit<'c, '_>, v: V<'c>| e.xor(v, e.constant(1, e.int(1)));
    let places = rank.and_then(|_| Places::of(&e, tile));
    let speaks = match &places {
        Some(places) => places.speaks(&e),
        None => speaker.map(|thread| is_thread(&e, thread)),
    };
    let all = conditions.iter().copied().reduce(|a, b| e.and(a, b));
    let Some(all) = all else {
        return Err(rewriter.no_match(op.op(), "no layout"));
    };
    let failed = not(&e, all);
    let failed = speaks.map_or(failed, |speaks| e.and(speaks, failed));
    let texts = assertion_texts(&op, &kernel);
    e.if_then(failed, |e| {
        for (r, condition) in conditions.iter().enumerate() {
            match &places {
                Some(places) => {
                    e.if_then(not(&e, *condition), |e| line.say(&e, &places.at(&e, r)));
                }
                None => line.say(&e, &own_number(&e, once)),
            }
        }
        let [message, file, function] = texts.map(|t| text(&e, device, &t).unwrap_or(line.format));
        let row = e.c32(i64::from(place(op.op()).1));
        call(&e, ASSERT_FAIL, &[message, file, row, function, e.c64(1)], &[]);
    });
    rewriter.erase(op.op());
    Ok(())
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Print, print);
    lower!(c, Assert, assert);
}
