//! From a program that fails to a small one that fails the same way: each step makes one thing simpler, and is kept where
//! the program still has one result and still fails.
use super::{
    draw::uses,
    interpret::interpret,
    program::{Base, Condition, Content, Id, Index, Kind, Op, Program, Start},
};

/// Most programs that are tried.
const MOST_STEPS: usize = 600;

/// The smallest program found that `fails` says yes to; `program` does.
pub fn smallest(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut tried = 0;
    'again: loop {
        for mut candidate in candidates(&best) {
            prune(&mut candidate);
            if candidate == best || interpret(&candidate).is_err() {
                continue;
            }
            tried += 1;
            if tried > MOST_STEPS {
                return best;
            }
            if fails(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// Programs that are simpler in one way, the boldest first. They may be invalid.
fn candidates(program: &Program) -> Vec<Program> {
    let mut out = vec![];
    let mut add = |change: &dyn Fn(&mut Program)| {
        let mut simpler = program.clone();
        change(&mut simpler);
        out.push(simpler);
    };
    let count = count(&program.ops);
    for n in (0..count).rev() {
        let Some(op) = find(&program.ops, n) else { continue };
        if op.results.is_empty() {
            add(&|p| edit(&mut p.ops, n, &mut |list, i| drop(list.remove(i))));
            continue;
        }
        let same = |id: &&Id| program.tiles[**id] == program.tiles[op.results[0]];
        if let (1, Some(operand)) = (op.results.len(), op.operands.iter().find(same)) {
            add(&|p| {
                edit(&mut p.ops, n, &mut |list, i| drop(list.remove(i)));
                replace(&mut p.ops, op.results[0], *operand);
            });
        }
        if !op.regions.is_empty() {
            for region in &op.regions {
                add(&|p| {
                    edit(&mut p.ops, n, &mut |list, i| {
                        drop(list.splice(i..=i, region.ops.clone()).collect::<Vec<_>>())
                    });
                    for (a, o) in region.arguments.iter().zip(&op.operands) {
                        replace(&mut p.ops, *a, *o);
                    }
                    for (r, y) in op.results.iter().zip(&region.yields) {
                        replace(&mut p.ops, *r, *y);
                    }
                });
            }
        }
        if !matches!(op.kind, Kind::Constant(_)) {
            add(&|p| {
                let constants = op.results.iter().map(|r| Op::new(Kind::Constant(1), &[], &[*r]));
                let constants: Vec<_> = constants.collect();
                edit(&mut p.ops, n, &mut |list, i| {
                    drop(list.splice(i..=i, constants.clone()).collect::<Vec<_>>())
                });
            });
        }
    }
    add(&|p| p.threads = 32);
    add(&|p| p.threads = (p.threads / 2).max(32));
    add(&|p| p.blocks = 1);
    for n in 0..count {
        add(&|p| edit(&mut p.ops, n, &mut |list, i| simplify(&mut list[i])));
        add(&|p| {
            edit(&mut p.ops, n, &mut |list, i| {
                if let Kind::For { trips, is_while } = &mut list[i].kind {
                    *trips = Base::Constant(1);
                    *is_while = false;
                }
            });
        });
    }
    let mut sizes: Vec<i64> = program
        .tiles
        .iter()
        .flat_map(|t| t.shape.clone())
        .filter(|s| *s > 1)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    add(&|p| halve(p, &|_| true));
    for size in sizes.iter().rev() {
        add(&|p| halve(p, &|s| s >= *size));
        add(&|p| halve(p, &|s| s == *size));
    }
    for n in 0..program.arguments.len() {
        add(&|p| {
            let a = &mut p.arguments[n];
            a.offset_bytes = 0;
            let mut stride = 1;
            for axis in (0..a.shape.len()).rev() {
                a.strides[axis] = stride;
                stride *= a.shape[axis].max(1);
            }
        });
        add(&|p| {
            let a = &mut p.arguments[n];
            a.dynamic_sizes.fill(false);
            a.dynamic_strides.fill(false);
        });
        add(&|p| {
            if !matches!(p.arguments[n].content, Content::Poison | Content::Order(_)) {
                p.arguments[n].content = Content::Small(3);
            }
        });
        for axis in 0..program.arguments[n].shape.len() {
            add(&|p| {
                let size = &mut p.arguments[n].shape[axis];
                *size = (*size / 2).max(1);
            });
        }
    }
    out
}

/// Makes an op's indices and padding plain, and leaves its mask out and what is outside.
fn simplify(op: &mut Op) {
    if std::mem::take(&mut op.masked) {
        op.operands.pop();
    }
    op.view = None;
    let plain = |at: &mut Vec<Index>| {
        for index in at {
            *index = Index {
                base: Base::Constant(0),
                block: 0,
                counter: index.counter,
            };
        }
    };
    match &mut op.kind {
        Kind::Load { at, pad, .. } => {
            plain(at);
            *pad = None;
            op.operands.clear();
        }
        Kind::Gather { at, pad, .. } => {
            plain(at);
            *pad = None;
        }
        Kind::Store { at, .. } | Kind::Scatter { at, .. } | Kind::Atomic { at, .. } => plain(at),
        Kind::Shared { at, swizzle, .. } => {
            plain(at);
            *swizzle = "none";
        }
        Kind::Slice { at, strides } | Kind::Insert { at, strides } => {
            strides.fill(1);
            at.fill(Start::Written(0));
        }
        Kind::Mma { unsigned } | Kind::Packed { unsigned, .. } => *unsigned = [false; 2],
        Kind::For { trips, .. } => {
            if let Base::Scalar(_) = trips {
                *trips = Base::Constant(2);
            }
        }
        _ => {}
    }
}

/// Halves the sizes of tiles that are so.
fn halve(program: &mut Program, is: &dyn Fn(i64) -> bool) {
    let old: Vec<Vec<i64>> = program.tiles.iter().map(|t| t.shape.clone()).collect();
    for size in program.tiles.iter_mut().flat_map(|t| &mut t.shape) {
        if *size > 1 && is(*size) {
            *size /= 2;
        }
    }
    let tiles = program.tiles.clone();
    each(&mut program.ops, &mut |op| {
        if let Kind::Slice { at, .. } = &mut op.kind {
            for (axis, at) in at.iter_mut().enumerate() {
                if let Start::Written(n) = at {
                    *n = *n / old[op.results[0]][axis] * tiles[op.results[0]].shape[axis];
                }
            }
        }
    });
}

/// Leaves out what nothing uses.
fn prune(program: &mut Program) {
    loop {
        let used: Vec<Id> = program.ops.iter().flat_map(uses).collect();
        let before = program.ops.len();
        let has_effects = |op: &Op| {
            let mut found = false;
            each(&mut vec![op.clone()], &mut |op| found |= op.results.is_empty());
            found
        };
        program
            .ops
            .retain(|op| has_effects(op) || op.results.iter().any(|r| used.contains(r)));
        if program.ops.len() == before {
            break;
        }
    }
    // Arguments and scalars, which are counted anew.
    let (mut arguments, mut scalars) = (vec![false; program.arguments.len()], vec![false; program.scalars.len()]);
    each(&mut program.ops, &mut |op| {
        touch(op, &mut |n| arguments[*n] = true, &mut |n| scalars[*n] = true);
    });
    let new = |used: &[bool]| -> Vec<usize> {
        (0..used.len())
            .map(|n| used[..n].iter().filter(|u| **u).count())
            .collect()
    };
    let (a, s) = (new(&arguments), new(&scalars));
    each(&mut program.ops, &mut |op| {
        touch(op, &mut |n| *n = a[*n], &mut |n| *n = s[*n])
    });
    let mut kept = arguments.iter();
    program.arguments.retain(|_| kept.next() == Some(&true));
    let mut kept = scalars.iter();
    program.scalars.retain(|_| kept.next() == Some(&true));
}

/// Shows the numbers of an op's arguments and scalars.
fn touch(op: &mut Op, argument_of: &mut dyn FnMut(&mut usize), scalar: &mut dyn FnMut(&mut usize)) {
    use super::program::Number;
    let mut base = |b: &mut Base| {
        if let Base::Scalar(n) = b {
            scalar(n);
        }
    };
    if let Some(view) = &mut op.view {
        view.sizes.iter_mut().for_each(&mut base);
        view.at.iter_mut().for_each(|start| {
            if let Start::Index(i) = start {
                base(&mut i.base);
            }
        });
    }
    match &mut op.kind {
        Kind::Load { argument, at, .. }
        | Kind::Store { argument, at }
        | Kind::Gather { argument, at, .. }
        | Kind::Scatter { argument, at }
        | Kind::Atomic { argument, at, .. } => {
            argument_of(argument);
            at.iter_mut().for_each(|i| base(&mut i.base));
        }
        Kind::Shared { at, .. } => at.iter_mut().for_each(|i| base(&mut i.base)),
        Kind::Slice { at, .. } | Kind::Insert { at, .. } => at.iter_mut().for_each(|start| {
            if let Start::Index(i) = start {
                base(&mut i.base);
            }
        }),
        Kind::For { trips, .. } => base(trips),
        Kind::Spread(Number::Scalar(n)) | Kind::Switch(Number::Scalar(n)) => scalar(n),
        Kind::If {
            condition: Condition::Odd(Number::Scalar(n)),
        } => scalar(n),
        _ => {}
    }
}

fn count(ops: &[Op]) -> usize {
    ops.iter()
        .map(|op| 1 + op.regions.iter().map(|r| count(&r.ops)).sum::<usize>())
        .sum()
}

/// The op with a number, counted in the order of the text.
fn find(ops: &[Op], n: usize) -> Option<Op> {
    let mut found = None;
    let mut ops = ops.to_vec();
    edit(&mut ops, n, &mut |list, i| found = Some(list[i].clone()));
    found
}

/// Shows the list that holds the op with a number, and where.
fn edit(ops: &mut Vec<Op>, n: usize, change: &mut dyn FnMut(&mut Vec<Op>, usize)) {
    fn go(ops: &mut Vec<Op>, left: &mut usize, change: &mut dyn FnMut(&mut Vec<Op>, usize)) -> bool {
        for i in 0..ops.len() {
            if *left == 0 {
                change(ops, i);
                return true;
            }
            *left -= 1;
            if ops[i].regions.iter_mut().any(|r| go(&mut r.ops, left, change)) {
                return true;
            }
        }
        false
    }
    let mut left = n;
    go(ops, &mut left, change);
}

fn each(ops: &mut Vec<Op>, see: &mut dyn FnMut(&mut Op)) {
    for op in ops {
        see(op);
        op.regions.iter_mut().for_each(|r| each(&mut r.ops, see));
    }
}

fn replace(ops: &mut Vec<Op>, old: Id, new: Id) {
    let one = |list: &mut Vec<Id>| list.iter_mut().filter(|id| **id == old).for_each(|id| *id = new);
    each(ops, &mut |op| {
        one(&mut op.operands);
        op.regions.iter_mut().for_each(|r| one(&mut r.yields));
    });
}
