//! A program as MLIR.
mod combine;
mod view;

use super::{
    number::{signed, width},
    program::{Argument, Base, Condition, Index, Kind, Number, Op, Program, Region, Start, Tile, in_a_byte},
};
use crate::support::mlir;
use girih_core::{dtype::DType, number::Rounding};
use std::fmt::Write;

/// The kernel's name.
pub const KERNEL: &str = "program";

/// The whole module.
pub fn text(program: &Program) -> String {
    let mut w = Writer {
        program,
        out: String::new(),
        fresh: 0,
        indent: 1,
        counters: vec![],
    };
    let memrefs = program
        .arguments
        .iter()
        .enumerate()
        .map(|(i, a)| format!("%A{i}: {}", memref(a)));
    let scalars = (0..program.scalars.len()).map(|i| format!("%n{i}: i64"));
    let arguments: Vec<_> = memrefs.chain(scalars).collect();
    w.line(
        &format!("module attributes {{tile.target = \"{}\"}} {{", program.target),
        -1,
    );
    w.line(
        &format!(
            "tile.kernel @{KERNEL}({}) threads({}) launch {{",
            arguments.join(", "),
            program.threads
        ),
        -1,
    );
    w.line("%c1 = arith.constant 1 : index", 0);
    w.line(&format!("%blocks = arith.constant {} : index", program.blocks), 0);
    w.line("tile.grid %blocks, %c1, %c1", 0);
    w.line("} body {", -1);
    w.line("%c0 = arith.constant 0 : index", 0);
    w.line("%c1 = arith.constant 1 : index", 0);
    w.line("%block = tile.block_id x", 0);
    w.ops(&program.ops);
    w.line("}", -1);
    w.line("}", -1);
    w.out
}

fn join(list: impl Iterator<Item = String>) -> String {
    list.collect::<Vec<_>>().join(", ")
}

/// A tile's type.
pub fn tensor(tile: &Tile) -> String {
    let sizes: String = tile.shape.iter().map(|s| format!("{s}x")).collect();
    format!("tensor<{sizes}{}>", mlir(tile.dtype))
}

fn memref(a: &Argument) -> String {
    let number = |n: i64, dynamic: bool| if dynamic { "?".to_owned() } else { n.to_string() };
    let sizes: String = a
        .shape
        .iter()
        .zip(&a.dynamic_sizes)
        .map(|(n, d)| number(*n, *d) + "x")
        .collect();
    let strides = join(a.strides.iter().zip(&a.dynamic_strides).map(|(n, d)| number(*n, *d)));
    let strided = if a.plain {
        String::new()
    } else {
        format!(", strided<[{strides}]>")
    };
    format!("memref<{sizes}{}{strided}, #tile.global>", mlir(a.dtype))
}

/// A number as MLIR reads it, without its type.
fn literal(dtype: DType, bits: u64) -> String {
    match dtype {
        DType::I1 => (bits != 0).to_string(),
        _ if dtype.is_float() => format!("0x{bits:0digits$X}", digits = width(dtype) as usize / 4),
        _ => signed(dtype, bits).to_string(),
    }
}

struct Writer<'p> {
    program: &'p Program,
    out: String,
    fresh: usize,
    indent: usize,
    /// Names of the counters of the loops around.
    counters: Vec<String>,
}

impl Writer<'_> {
    fn line(&mut self, text: &str, shift: i64) {
        let indent = (self.indent as i64 + shift).max(0) as usize;
        writeln!(self.out, "{}{text}", "  ".repeat(indent)).expect("a string takes all");
    }
    /// A new value.
    fn define(&mut self, text: &str) -> String {
        self.fresh += 1;
        let name = format!("%x{}", self.fresh);
        self.line(&format!("{name} = {text}"), 0);
        name
    }
    fn constant(&mut self, n: i64) -> String {
        match n {
            0 | 1 => format!("%c{n}"),
            _ => self.define(&format!("arith.constant {n} : index")),
        }
    }
    fn tile(&self, id: usize) -> String {
        tensor(&self.program.tiles[id])
    }
    fn tiles(&self, ids: &[usize]) -> String {
        join(ids.iter().map(|id| self.tile(*id)))
    }

    fn base(&mut self, base: Base) -> String {
        match base {
            Base::Constant(n) => self.constant(n),
            Base::Scalar(n) => self.define(&format!("arith.index_cast %n{n} : i64 to index")),
        }
    }
    fn index(&mut self, index: &Index) -> String {
        let counter = self.counters.last().cloned();
        let terms = [(index.block, Some("%block".to_owned())), (index.counter, counter)];
        let mut sum = match index.base {
            Base::Constant(0) => None,
            base => Some(self.base(base)),
        };
        for (factor, of) in terms {
            let Some(of) = of.filter(|_| factor != 0) else { continue };
            let by = self.constant(factor);
            let term = self.define(&format!("arith.muli {of}, {by} : index"));
            sum = Some(match sum {
                None => term,
                Some(s) => self.define(&format!("arith.addi {s}, {term} : index")),
            });
        }
        sum.unwrap_or_else(|| "%c0".to_owned())
    }
    fn place(&mut self, argument: usize, at: &[Index]) -> String {
        let indices: Vec<_> = at.iter().map(|i| self.index(i)).collect();
        format!("%A{argument}[{}]", indices.join(", "))
    }
    fn start(&mut self, start: &Start) -> String {
        match start {
            Start::Written(n) => n.to_string(),
            Start::Index(index) => self.index(index),
        }
    }
    /// Where a part of a tile lies.
    fn part(&mut self, at: &[Start], strides: &[i64]) -> String {
        let at: Vec<String> = at.iter().map(|start| self.start(start)).collect();
        let strides = match strides.iter().all(|s| *s == 1) {
            true => String::new(),
            false => format!(" strides {strides:?}"),
        };
        format!("at [{}]{strides}", at.join(", "))
    }
    /// A number as i64.
    fn number(&mut self, number: Number) -> String {
        let of = match number {
            Number::Scalar(n) => return format!("%n{n}"),
            Number::Counter => self.counters.last().cloned().unwrap_or_else(|| "%c0".to_owned()),
            Number::Block => "%block".to_owned(),
        };
        self.define(&format!("arith.index_cast {of} : index to i64"))
    }

    fn ops(&mut self, ops: &[Op]) {
        for op in ops {
            self.op(op);
        }
    }

    fn op(&mut self, op: &Op) {
        let values = |ids: &[usize]| join(ids.iter().map(|id| format!("%v{id}")));
        let (own, mask) = op.operands.split_at(op.operands.len() - usize::from(op.masked));
        let mask = mask
            .first()
            .map(|m| format!(" mask %v{m} : {}", self.tile(*m)))
            .unwrap_or_default();
        let (operands, results) = (values(own), values(&op.results));
        let (from, to) = (self.tiles(own), self.tiles(&op.results));
        let first = op.operands.first().map(|id| format!("%v{id}")).unwrap_or_default();
        let memref_of = |n: usize| memref(&self.program.arguments[n]);
        let dtype = |id: usize| self.program.tiles[id].dtype;
        let pad_of = |pad: &Option<u64>| {
            pad.map(|bits| {
                let t = dtype(op.results[0]);
                match t {
                    DType::I1 => format!(" {{pad = {}}}", bits != 0),
                    _ => format!(" {{pad = {} : {}}}", literal(t, bits), mlir(t)),
                }
            })
            .unwrap_or_default()
        };
        match &op.kind {
            Kind::Load { argument, at, pad } => {
                let pad = pad_of(pad);
                let (place, memory) = self.memory(*argument, op.view.as_ref(), at);
                let outside = match own {
                    [] => String::new(),
                    _ => format!(" pass_thru {operands} : {from}"),
                };
                self.line(
                    &format!("{results} = tile.load {place}{mask}{outside}{pad} : {memory} -> {to}"),
                    0,
                );
            }
            Kind::Store { argument, at } => {
                let (place, memory) = self.memory(*argument, op.view.as_ref(), at);
                self.line(&format!("tile.store {operands}, {place}{mask} : {from}, {memory}"), 0);
            }
            Kind::Gather { argument, at, pad } => {
                let (pad, memory) = (pad_of(pad), memref_of(*argument));
                let place = self.place(*argument, at);
                self.line(
                    &format!("{results} = tile.gather {place} rows {operands}{mask}{pad} : {memory}, {from} -> {to}"),
                    0,
                );
            }
            Kind::Scatter { argument, at } => {
                let (memory, value, rows) = (memref_of(*argument), op.operands[0], op.operands[1]);
                let (value_type, rows_type) = (self.tile(value), self.tile(rows));
                let place = self.place(*argument, at);
                self.line(
                    &format!(
                        "tile.scatter %v{value}, {place} rows %v{rows}{mask} : {value_type}, {memory}, {rows_type}"
                    ),
                    0,
                );
            }
            Kind::Atomic { argument, at, kind } => {
                let memory = memref_of(*argument);
                let place = self.place(*argument, at);
                self.atomic(kind, own, &op.results, &place, &mask, &memory);
            }
            Kind::Shared { at, kind, swizzle } => {
                let buffer = &self.program.tiles[own[0]];
                let sizes: String = buffer.shape.iter().map(|s| format!("{s}x")).collect();
                let memory = format!(
                    "memref<{sizes}{}, #tile.shared<swizzle = {swizzle}>>",
                    mlir(buffer.dtype)
                );
                let name = self.define(&format!("tile.alloc : {memory}"));
                let (corner, t) = (join(buffer.shape.iter().map(|_| "%c0".to_owned())), self.tile(own[0]));
                self.line(&format!("tile.store {first}, {name}[{corner}] : {t}, {memory}"), 0);
                let indices = at.iter().map(|i| self.index(i)).collect::<Vec<_>>().join(", ");
                let place = format!("{name}[{indices}]");
                self.atomic(kind, &own[1..], &op.results[1..], &place, &mask, &memory);
                let after = op.results[0];
                self.line(&format!("%v{after} = tile.load {name}[{corner}] : {memory} -> {t}"), 0);
            }
            Kind::Constant(bits) => {
                let number = literal(dtype(op.results[0]), *bits);
                self.line(&format!("{results} = arith.constant dense<{number}> : {to}"), 0);
            }
            // What is counted is written out in every other program, where that is short.
            Kind::Iota(axis)
                if self.program.seed % 2 == 1 && (2..=64).contains(&self.program.tiles[op.results[0]].elements()) =>
            {
                let listed = nested(&self.program.tiles[op.results[0]].shape, *axis, 0);
                self.line(&format!("{results} = arith.constant dense<{listed}> : {to}"), 0);
            }
            Kind::Iota(axis) => self.line(&format!("{results} = tile.iota axis {axis} : {to}"), 0),
            Kind::Spread(number) => {
                let t = mlir(dtype(op.results[0]));
                let mut n = self.number(*number);
                if t != "i64" {
                    n = self.define(&format!("arith.trunci {n} : i64 to {t}"));
                }
                self.line(&format!("{results} = tile.splat {n} : {t} -> {to}"), 0);
            }
            Kind::Extract => {
                let t = mlir(dtype(op.results[0]));
                let n = self.define(&format!("tensor.extract {operands}[] : {from}"));
                self.line(&format!("{results} = tile.splat {n} : {t} -> {to}"), 0);
            }
            Kind::ExpandDims(axis) => {
                self.line(
                    &format!("{results} = tile.expand_dims {operands} axis {axis} : {from} -> {to}"),
                    0,
                );
            }
            Kind::Broadcast => self.line(&format!("{results} = tile.broadcast {operands} : {from} -> {to}"), 0),
            Kind::Reshape => self.line(&format!("{results} = tile.reshape {operands} : {from} -> {to}"), 0),
            Kind::Bitcast(_) => self.line(&format!("{results} = tile.bitcast {operands} : {from} -> {to}"), 0),
            Kind::Transpose(order) => {
                self.line(
                    &format!("{results} = tile.transpose {operands} order {order:?} : {from} -> {to}"),
                    0,
                );
            }
            Kind::Concat(axis) => {
                self.line(
                    &format!("{results} = tile.concat {operands} axis {axis} : {from} -> {to}"),
                    0,
                );
            }
            Kind::Slice { at, strides } => {
                let place = self.part(at, strides);
                self.line(
                    &format!("{results} = tile.extract_slice {operands} {place} : {from} -> {to}"),
                    0,
                );
            }
            Kind::Insert { at, strides } => {
                let place = self.part(at, strides);
                let (part, whole) = (self.tile(op.operands[0]), self.tile(op.operands[1]));
                self.line(
                    &format!(
                        "{results} = tile.insert_slice %v{} into %v{} {place} : {part} into {whole}",
                        op.operands[0], op.operands[1]
                    ),
                    0,
                );
            }
            Kind::Reduce { axis, combiner } => self.combine("reduce", op, *axis, *combiner),
            Kind::Scan { axis, combiner } => self.combine("scan", op, *axis, *combiner),
            Kind::Unary(name) => self.line(&format!("{results} = {name} {operands} : {to}"), 0),
            Kind::Binary(name) => self.line(&format!("{results} = {name} {operands} : {to}"), 0),
            Kind::Compare(predicate) => {
                let (t, name) = (self.tile(op.operands[0]), comparison(dtype(op.operands[0])));
                self.line(&format!("{results} = {name} {predicate}, {operands} : {t}"), 0);
            }
            Kind::Select => {
                let condition = self.tile(op.operands[0]);
                self.line(&format!("{results} = arith.select {operands} : {condition}, {to}"), 0);
            }
            Kind::Fma => self.line(&format!("{results} = math.fma {operands} : {to}"), 0),
            Kind::Cast(name) => self.line(&format!("{results} = {name} {operands} : {from} to {to}"), 0),
            Kind::Truncate(rounding) => {
                let mode = match rounding {
                    Rounding::NearestEven => "to_nearest_even",
                    Rounding::NearestAway => "to_nearest_away",
                    Rounding::Zero => "toward_zero",
                    Rounding::Up => "upward",
                    Rounding::Down => "downward",
                };
                self.line(
                    &format!("{results} = arith.truncf {operands} {mode} : {from} to {to}"),
                    0,
                );
            }
            Kind::Convert(rounding, saturate) => {
                let mode = match rounding {
                    Rounding::NearestEven => "rn",
                    Rounding::NearestAway => "rna",
                    Rounding::Zero => "rz",
                    Rounding::Up => "rp",
                    Rounding::Down => "rm",
                };
                let finite = if *saturate { " satfinite" } else { "" };
                self.line(
                    &format!("{results} = tile.cvt {operands} {mode}{finite} : {from} to {to}"),
                    0,
                );
            }
            Kind::Mma { unsigned } => {
                let flags = signs(*unsigned);
                self.line(&format!("{results} = tile.mma {operands}{flags} : {from}"), 0);
            }
            Kind::Packed {
                elements,
                popc,
                unsigned,
            } => {
                let shapes = [0, 1].map(|i| self.program.tiles[op.operands[i]].shape.clone());
                let taken = [0, 1].map(|i| {
                    let (mut shape, element) = (shapes[i].clone(), elements[i]);
                    shape[1 - i] *= in_a_byte(element);
                    let bytes = &shapes[i];
                    let from = format!("tensor<{}x{}xi8>", bytes[0], bytes[1]);
                    let to = format!("tensor<{}x{}x{element}>", shape[0], shape[1]);
                    let operand = op.operands[i];
                    (self.define(&format!("tile.bitcast %v{operand} : {from} -> {to}")), to)
                });
                let [(a, a_type), (b, b_type)] = taken;
                let (acc, flags) = (op.operands[2], signs(*unsigned));
                let popc = if popc.is_empty() {
                    String::new()
                } else {
                    format!(" popc {popc}")
                };
                self.line(
                    &format!("{results} = tile.mma {a}, {b}, %v{acc}{popc}{flags} : {a_type}, {b_type}, {to}"),
                    0,
                );
            }
            Kind::For { trips, is_while } => {
                let trips = self.base(*trips);
                let region = &op.regions[0];
                self.fresh += 1;
                let counter = format!("%i{}", self.fresh);
                self.counters.push(counter.clone());
                if *is_while {
                    self.count_by_itself(op, region, &counter, &trips);
                } else {
                    let pairs = region.arguments.iter().zip(&op.operands);
                    let carried = join(pairs.map(|(a, o)| format!("%v{a} = %v{o}")));
                    let bounds = format!("{counter} = %c0 to {trips} step %c1");
                    self.line(
                        &format!("{results} = scf.for {bounds} iter_args({carried}) -> ({to}) {{"),
                        0,
                    );
                    self.region(region, "");
                    self.line("}", 0);
                }
                self.counters.pop();
            }
            Kind::If { condition } => {
                let condition = match condition {
                    Condition::Odd(number) => {
                        let n = self.number(*number);
                        self.define(&format!("arith.trunci {n} : i64 to i1"))
                    }
                    Condition::Tile => {
                        let t = self.tile(op.operands[0]);
                        self.define(&format!("tensor.extract %v{}[] : {t}", op.operands[0]))
                    }
                };
                self.line(&format!("{results} = scf.if {condition} -> ({to}) {{"), 0);
                self.region(&op.regions[0], "");
                self.line("} else {", 0);
                self.region(&op.regions[1], "");
                self.line("}", 0);
            }
            Kind::Switch(number) => {
                let n = self.number(*number);
                let n = self.define(&format!("arith.index_cast {n} : i64 to index"));
                self.line(&format!("{results} = scf.index_switch {n} -> {to}"), 0);
                for (i, region) in op.regions.iter().enumerate() {
                    let name = match i + 1 == op.regions.len() {
                        true => "default".to_owned(),
                        false => format!("case {i}"),
                    };
                    self.line(&format!("{name} {{"), 0);
                    self.region(region, "");
                    self.line("}", 0);
                }
            }
        }
    }

    /// An atomic operation: of the first operand, with what it compares with if `cas`, and rows if there is another.
    fn atomic(&mut self, kind: &str, operands: &[usize], results: &[usize], place: &str, mask: &str, memory: &str) {
        let value = operands[0];
        let mut others = operands[1..].iter();
        let mut clause = |name: &str| {
            let id = others.next();
            id.map_or(String::new(), |id| format!(" {name} %v{id} : {}", self.tile(*id)))
        };
        let compare = match kind {
            "cas" => clause("compare"),
            _ => String::new(),
        };
        let rows = clause("rows");
        let value_type = self.tile(value);
        let (into, of) = match results.first() {
            None => (String::new(), String::new()),
            Some(id) => (format!("%v{id} = "), format!(" -> {}", self.tile(*id))),
        };
        let text = format!(
            "{into}tile.atomic_rmw {kind} %v{value}, {place}{compare}{rows}{mask} : {value_type}, {memory}{of}"
        );
        self.line(&text, 0);
    }

    /// `counter`, if it is not empty, is counted up and yielded as well.
    fn region(&mut self, region: &Region, counter: &str) {
        self.indent += 1;
        self.ops(&region.ops);
        let mut names: Vec<_> = region.yields.iter().map(|id| format!("%v{id}")).collect();
        let mut types: Vec<_> = region.yields.iter().map(|id| self.tile(*id)).collect();
        if !counter.is_empty() {
            names.push(self.define(&format!("arith.addi {counter}, %c1 : index")));
            types.push("index".to_owned());
        }
        self.line(&format!("scf.yield {} : {}", names.join(", "), types.join(", ")), 0);
        self.indent -= 1;
    }

    /// A loop as an `scf.while`, whose last value is the counter.
    fn count_by_itself(&mut self, op: &Op, region: &Region, counter: &str, trips: &str) {
        let types = format!("{}, index", self.tiles(&region.arguments));
        let names = |prefix: &str| join(region.arguments.iter().map(|a| format!("{prefix}{a}")));
        let pairs = region.arguments.iter().zip(&op.operands);
        let first = join(pairs.map(|(a, o)| format!("%w{a} = %v{o}")));
        self.fresh += 1;
        let n = counter.replace('i', "m");
        let results = join(op.results.iter().map(|id| format!("%v{id}")));
        self.line(
            &format!(
                "{results}, %r{} = scf.while ({first}, {n} = %c0) : ({types}) -> ({types}) {{",
                self.fresh
            ),
            0,
        );
        self.indent += 1;
        let more = self.define(&format!("arith.cmpi slt, {n}, {trips} : index"));
        self.line(&format!("scf.condition({more}) {}, {n} : {types}", names("%w")), 0);
        self.indent -= 1;
        self.line("} do {", 0);
        let arguments = region.arguments.iter().map(|a| format!("%v{a}: {}", self.tile(*a)));
        let arguments = join(arguments);
        self.line(&format!("^bb0({arguments}, {counter}: index):"), 0);
        self.region(region, counter);
        self.line("}", 0);
    }
}

/// Coordinates along `axis` as the elements of a tile, nested as its axes are; `at` is the coordinate that is counted.
fn nested(shape: &[i64], axis: usize, at: i64) -> String {
    let Some((size, inner)) = shape.split_first() else {
        return at.to_string();
    };
    let part = |i: i64| match axis {
        0 => nested(inner, usize::MAX, i),
        _ => nested(inner, axis - 1, at),
    };
    format!("[{}]", join((0..*size).map(part)))
}

fn comparison(dtype: DType) -> &'static str {
    if dtype.is_float() { "arith.cmpf" } else { "arith.cmpi" }
}

/// Which operands of a product are unsigned.
fn signs(unsigned: [bool; 2]) -> &'static str {
    match unsigned {
        [false, false] => "",
        [true, false] => " {unsigned_a}",
        [false, true] => " {unsigned_b}",
        [true, true] => " {unsigned_a, unsigned_b}",
    }
}
