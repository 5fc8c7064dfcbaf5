//! Launch regions as expressions: the same numbers as MLIR's own folders, and messages where there is no expression.
use crate::support::{context, says};
use girih_core::manifest::{Env, Expr};
use girih_dialects::tile::{host, ops::kernel::Kernel};
use girih_ir::{ext::BlockExt, module, pass, prelude::*};
use pretty_assertions::assert_eq;

/// Two integer arguments.
struct Scalars([i64; 2]);
impl Env for Scalars {
    fn size(&self, _: usize, _: usize) -> Option<i64> {
        None
    }
    fn stride(&self, _: usize, _: usize) -> Option<i64> {
        None
    }
    fn scalar(&self, arg: usize) -> Option<i64> {
        self.0.get(arg).copied()
    }
    fn address(&self, _: usize) -> Option<u64> {
        None
    }
}

/// The grid's x, where `op` makes `%r : to` of `%a, %b : from`.
fn expression(op: &str, from: &str, to: &str) -> Expr {
    let cast = if to == "index" {
        "%x = arith.addi %r, %zero : index".to_owned()
    } else {
        format!("%x = arith.index_cast %r : {to} to index")
    };
    let source = format!(
        "tile.kernel @k(%a: {from}, %b: {from}) threads(32) launch {{\n\
         %c1 = arith.constant 1 : index\n%zero = arith.constant 0 : index\n{op}\n{cast}\n\
         tile.grid %x, %c1, %c1\n}} body {{\n}}\n"
    );
    let c = context();
    let module = module::parse(&c, source.as_bytes(), "t.mlir").expect("the kernel is right");
    let ops = module.as_operation().nested_ops();
    let kernel = ops.iter().find_map(|op| op.cast::<Kernel>()).expect("a kernel");
    let launch = host::launch(kernel.op(), kernel.launch()).expect("the launch can be computed");
    launch.grid[0].clone()
}

/// What MLIR folds `op` to for each pair; `None` where it leaves it.
fn folded(op: &str, from: &str, to: &str, pairs: &[(i64, i64)]) -> Vec<Option<i64>> {
    let (mut body, mut names) = (String::new(), vec![]);
    for (i, (a, b)) in pairs.iter().enumerate() {
        body += &format!("%a{i} = arith.constant {a} : {from}\n%b{i} = arith.constant {b} : {from}\n");
        let mut text = op.to_owned();
        for name in ["a", "b", "r", "t"] {
            text = text.replace(&format!("%{name}"), &format!("%{name}{i}"));
        }
        body += &format!("{text}\n");
        names.push(format!("%r{i}"));
    }
    let types = vec![to; pairs.len()].join(", ");
    let source = format!(
        "func.func @f() -> ({types}) {{\n{body}return {} : {types}\n}}",
        names.join(", ")
    );
    let c = context();
    let module = module::parse(&c, source.as_bytes(), "t.mlir").expect("the function is right");
    pass::run_pipeline(module.as_operation(), "canonicalize", Default::default()).expect("it folds");
    let function = module.as_operation().nested_ops()[1];
    let block = function.region_at(0).entry().expect("a body");
    let end = block.terminator_op().expect("a return");
    end.operand_values().iter().map(|v| v.constant_int()).collect()
}

fn agrees(op: &str, from: &str, to: &str, bits: u32, defined: fn(i64, i64, u32) -> bool) {
    let (low, high) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
    let values = [0, 1, 2, 3, 7, 100, -1, -2, -3, -100, low, low + 1, high, high - 1];
    let pairs: Vec<_> = values
        .iter()
        .flat_map(|a| values.iter().map(move |b| (*a, *b)))
        .filter(|(a, b)| defined(*a, *b, bits))
        .collect();
    let expr = expression(op, from, to);
    let mut compared = 0;
    for (pair, wanted) in pairs.iter().zip(folded(op, from, to, &pairs)) {
        let Some(wanted) = wanted else { continue };
        match expr.eval(&Scalars([pair.0, pair.1])) {
            Ok(found) => {
                assert_eq!(found, wanted, "{op} of {pair:?}: {expr}");
                compared += 1;
            }
            // In 64 bits the launcher refuses what MLIR wraps around.
            Err(e) => assert!(
                bits == 64 && e.to_string().contains("does not fit 64 bits"),
                "{op} of {pair:?}: {e}"
            ),
        }
    }
    assert!(
        compared * 2 >= pairs.len(),
        "{op} {from}: {compared} of {} compared",
        pairs.len()
    );
}

#[test]
fn arithmetic_agrees_with_mlir_in_every_width() {
    let any: fn(i64, i64, u32) -> bool = |_, _, _| true;
    let divides: fn(i64, i64, u32) -> bool = |a, b, bits| b != 0 && !(b == -1 && a == i64::MIN >> (64 - bits));
    let shifts: fn(i64, i64, u32) -> bool = |_, b, bits| (0..i64::from(bits)).contains(&b);
    for (bits, t) in [(8, "i8"), (32, "i32"), (64, "i64")] {
        for name in [
            "addi", "subi", "muli", "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori",
        ] {
            agrees(&format!("%r = arith.{name} %a, %b : {t}"), t, t, bits, any);
        }
        for name in [
            "divsi",
            "divui",
            "ceildivsi",
            "ceildivui",
            "floordivsi",
            "remsi",
            "remui",
        ] {
            agrees(&format!("%r = arith.{name} %a, %b : {t}"), t, t, bits, divides);
        }
        for name in ["shli", "shrsi", "shrui"] {
            agrees(&format!("%r = arith.{name} %a, %b : {t}"), t, t, bits, shifts);
        }
        for name in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"] {
            let op = format!("%t = arith.cmpi {name}, %a, %b : {t}\n%r = arith.select %t, %a, %b : {t}");
            agrees(&op, t, t, bits, any);
        }
    }
}

#[test]
fn one_bit_numbers_and_casts_agree_with_mlir() {
    let any: fn(i64, i64, u32) -> bool = |_, _, _| true;
    for op in [
        "%t = arith.trunci %a : i32 to i8\n%r = arith.extsi %t : i8 to i32",
        "%t = arith.trunci %a : i32 to i8\n%r = arith.extui %t : i8 to i32",
        "%t = arith.trunci %a : i32 to i1\n%r = arith.extsi %t : i1 to i32",
        "%t = arith.trunci %a : i32 to i1\n%r = arith.extui %t : i1 to i32",
        "%ta = arith.trunci %a : i32 to i1\n%tb = arith.trunci %b : i32 to i1\n\
         %tc = arith.addi %ta, %tb : i1\n%r = arith.extui %tc : i1 to i32",
        "%ta = arith.trunci %a : i32 to i1\n%tb = arith.trunci %b : i32 to i1\n\
         %tc = arith.cmpi slt, %ta, %tb : i1\n%r = arith.extui %tc : i1 to i32",
        "%ta = arith.cmpi slt, %a, %b : i32\n%tb = arith.cmpi ult, %a, %b : i32\n\
         %tc = arith.xori %ta, %tb : i1\n%r = arith.extsi %tc : i1 to i32",
    ] {
        agrees(op, "i32", "i32", 32, any);
    }
    agrees("%r = arith.index_castui %a : i32 to index", "i32", "index", 32, any);
    agrees("%r = arith.index_cast %a : i8 to index", "i8", "index", 8, any);
    for name in ["casts", "castu"] {
        let op = format!("%t = index.{name} %a : i32 to index\n%r = arith.index_cast %t : index to i64");
        agrees(&op, "i32", "i64", 32, any);
    }
    for name in ["add", "mins", "maxu", "and"] {
        let op = format!(
            "%ta = arith.index_cast %a : i32 to index\n%tb = arith.index_cast %b : i32 to index\n\
             %tc = index.{name} %ta, %tb\n%r = arith.index_cast %tc : index to i64"
        );
        agrees(&op, "i32", "i64", 32, any);
    }
    for name in ["slt", "uge", "eq"] {
        let op = format!(
            "%ta = arith.index_cast %a : i32 to index\n%tb = arith.index_cast %b : i32 to index\n\
             %tc = index.cmp {name}(%ta, %tb)\n%r = arith.extui %tc : i1 to i32"
        );
        agrees(&op, "i32", "i32", 32, any);
    }
}

#[test]
fn what_the_launcher_cannot_compute_is_named_with_its_use() {
    let launch = |args: &str, body: &str| {
        format!(
            "module attributes {{tile.target = \"sm_90a\"}} {{\n\
             tile.kernel @k({args}) threads(32) launch {{\n\
             %c1 = arith.constant 1 : index\n\
             {body}\n\
             }} body {{\n}}\n}}\n"
        )
    };
    let note = |line: u32, what: &str| format!("\nt.mlir:{line}:1: note: {what} depends on it");
    let float =
        "%y = arith.addf %x, %x : f32\n%i = arith.fptosi %y : f32 to i32\n%g = arith.index_cast %i : i32 to index";
    assert_eq!(
        says(
            &launch("%x: f32", &format!("{float}\ntile.grid %g, %g, %c1")),
            "tile-verify-target"
        ),
        [format!(
            "4:6: error: 'arith.addf' op depends on argument #0 of type f32, but the launcher computes with integers \
             only{}",
            note(7, "the grid's x")
        )]
    );
    // Nothing depends on it.
    assert_eq!(
        says(
            &launch("%x: f32", &format!("{float}\ntile.grid %c1, %c1, %c1")),
            "tile-verify-target"
        ),
        [""; 0]
    );
    let dim = "%g = memref.dim %A, %n : memref<?xf32, #tile.global>\ntile.grid %c1, %g, %c1";
    assert_eq!(
        says(
            &launch(
                "%A: memref<?xf32, #tile.global>, %m: i32",
                &format!("%n = arith.index_cast %m : i32 to index\n{dim}")
            ),
            "tile-verify-target"
        ),
        ["5:6: error: 'memref.dim' op asks for a dimension that is known only at run time; use a constant"]
    );
}

#[test]
fn expressions_that_double_at_each_step_are_refused() {
    let mut body = "%v0 = arith.index_cast %n : i32 to index\n".to_owned();
    for i in 0..40 {
        body += &format!("%v{} = arith.addi %v{i}, %v{i} : index\n", i + 1);
    }
    let source = format!(
        "module attributes {{tile.target = \"sm_90a\"}} {{\n\
         tile.kernel @k(%n: i32) threads(32) launch {{\n\
         %c1 = arith.constant 1 : index\n{body}tile.grid %v40, %c1, %c1\n}} body {{\n}}\n}}\n"
    );
    let said = says(&source, "tile-verify-target");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("more than 1024 terms or 48 nested operators"),
        "{said:?}"
    );
}

/// One memref whose outermost stride is 640, and the number 5.
struct Strided;
impl Env for Strided {
    fn size(&self, arg: usize, dim: usize) -> Option<i64> {
        (arg == 0 && dim == 0).then_some(20)
    }
    fn stride(&self, arg: usize, dim: usize) -> Option<i64> {
        (arg == 0 && dim == 0).then_some(640)
    }
    fn scalar(&self, arg: usize) -> Option<i64> {
        (arg == 1).then_some(5)
    }
    fn address(&self, _: usize) -> Option<u64> {
        Some(4096)
    }
}

/// The map of a launch whose last value is `%map`.
fn map_of(launch: &str) -> girih_core::tensor_map::TensorMap {
    let a = "memref<?x8x16x4xf32, strided<[?, 64, 4, 1]>, #tile.global>";
    let source = format!(
        "tile.kernel @k(%A: {a}, %n: i32) threads(32) launch {{\n\
         %c1 = arith.constant 1 : index\n%i = arith.index_cast %n : i32 to index\n{launch}\n\
         tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<1x4x64xf32>)\n\
         }} body args(%map: !tile.tensor_map<1x4x64xf32>) {{\n}}\n"
    );
    let c = context();
    let module = module::parse(&c, source.as_bytes(), "t.mlir").expect("the kernel is right");
    let ops = module.as_operation().nested_ops();
    let kernel = ops.iter().find_map(|op| op.cast::<Kernel>()).expect("a kernel");
    let launch = host::launch(kernel.op(), kernel.launch()).expect("the launch can be computed");
    let map = launch.maps[0].template.instantiate(&Strided).expect("numbers");
    map.expect("no dimension is empty")
}

#[test]
fn views_move_start_sizes_and_strides() {
    let a = "memref<?x8x16x4xf32, strided<[?, 64, 4, 1]>, #tile.global>";
    let part = "memref<3x4x16x4xf32, strided<[?, 64, 4, 1], offset: ?>, #tile.global>";
    let joined = "memref<3x4x64xf32, strided<[?, 64, 1], offset: ?>, #tile.global>";
    let map = map_of(&format!(
        "%v = memref.subview %A[%i, 2, 0, 0] [3, 4, 16, 4] [2, 1, 1, 1] : {a} to {part}\n\
         %j = memref.collapse_shape %v [[0], [1], [2, 3]] : {part} into {joined}\n\
         %map = tile.tensor_map %j : {joined} -> !tile.tensor_map<1x4x64xf32>"
    ));
    // Element 5, 2, 0, 0 is 5 x 640 + 2 x 64 elements of 4 bytes from the start.
    assert_eq!(map.address, 4096 + (5 * 640 + 2 * 64) * 4);
    assert_eq!(
        (&map.dims[..], &map.strides[..]),
        (&[64, 4, 3][..], &[256, 2 * 640 * 4][..])
    );
    // A view may lose a dimension of size 1.
    let line = "memref<?x8x4xf32, strided<[?, 64, 1], offset: 12>, #tile.global>";
    let map = map_of(&format!(
        "%c0 = arith.constant 0 : index\n%size = memref.dim %A, %c0 : {a}\n\
         %v = memref.subview %A[0, 0, 3, 0] [%size, 8, 1, 4] [1, 1, 1, 1] : {a} to {line}\n\
         %map = tile.tensor_map %v : {line} -> !tile.tensor_map<1x4x64xf32>"
    ));
    assert_eq!(map.address, 4096 + 3 * 4 * 4);
    assert_eq!((&map.dims[..], &map.strides[..]), (&[4, 8, 20][..], &[256, 2560][..]));
}
