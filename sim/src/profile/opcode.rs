//! Kinds of instructions, by opcode.
use serde::Serialize;

/// What part of a multiprocessor an instruction keeps busy, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// `wgmma`, `mma`, `wmma`.
    Matrix,
    /// Floating-point arithmetic: `add`, `mul`, `fma`, `min`, ...
    Float,
    /// Approximations and divisions: `ex2`, `rcp`, `sin`, `div`, ...
    Special,
    /// Integer and bit arithmetic.
    Integer,
    /// Comparisons and selections.
    Compare,
    /// Conversions.
    Convert,
    /// Moves between registers.
    Move,
    /// Loads, `ldmatrix` among them.
    Load,
    /// Stores, `stmatrix` among them.
    Store,
    /// `atom`, `red`.
    Atomic,
    /// `cp.async` and copies without a tensor map.
    Copy,
    /// Copies and reductions through a tensor map.
    Tensor,
    /// Exchange between lanes: `shfl`, `vote`, `redux`, ...
    Lanes,
    /// Barriers, fences and waits.
    Synchronise,
    /// Branches, calls, exits.
    Branch,
    /// Everything else.
    Other,
}

/// An opcode's class, and a name that tells apart what costs differently: the shape and types of a product, the state space
/// of a memory access, the opcode otherwise.
pub fn classify(opcode: &str) -> (Class, String) {
    let mut parts = opcode.split('.');
    let head = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let has = |part: &str| rest.contains(&part);
    let float = rest.iter().any(|part| {
        let base = part.strip_suffix("x2").unwrap_or(part);
        matches!(base, "f16" | "bf16" | "f32" | "f64")
    });
    let first = |n: usize| [&[head][..], &rest[..n.min(rest.len())]].concat().join(".");
    let class = match head {
        "wgmma" if has("mma_async") => Class::Matrix,
        "mma" => Class::Matrix,
        "wmma" if has("mma") => Class::Matrix,
        "wmma" if has("load") => Class::Load,
        "wmma" => Class::Store,
        "ex2" | "lg2" | "rcp" | "rsqrt" | "sqrt" | "sin" | "cos" | "tanh" => Class::Special,
        "div" | "rem" => Class::Special,
        "add" | "sub" | "mul" | "mad" | "fma" | "min" | "max" | "abs" | "neg" | "copysign" if float => Class::Float,
        "add" | "sub" | "addc" | "subc" | "mul" | "mad" | "madc" | "mul24" | "mad24" | "sad" | "fma" | "abs"
        | "neg" | "min" | "max" | "popc" | "clz" | "bfind" | "fns" | "brev" | "bfe" | "bfi" | "szext" | "bmsk"
        | "dp4a" | "dp2a" | "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "shl" | "shr" | "shf" | "prmt" => {
            Class::Integer
        }
        "setp" | "set" | "selp" | "slct" | "testp" => Class::Compare,
        "cvt" => Class::Convert,
        "mov" | "cvta" | "movmatrix" | "mapa" | "getctarank" | "isspacep" => Class::Move,
        "ld" | "ldu" | "ldmatrix" | "tex" | "tld4" | "suld" => Class::Load,
        "st" | "stmatrix" | "sust" => Class::Store,
        "atom" | "red" | "sured" => Class::Atomic,
        "cp" if has("wait_group") || has("wait_all") || has("commit_group") || has("mbarrier") => Class::Synchronise,
        "cp" if has("tensor") => Class::Tensor,
        "cp" => Class::Copy,
        "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => Class::Lanes,
        "bar" | "barrier" | "mbarrier" | "fence" | "membar" | "wgmma" | "nanosleep" | "griddepcontrol" => {
            Class::Synchronise
        }
        "bra" | "brx" | "call" | "ret" | "exit" | "trap" => Class::Branch,
        _ => Class::Other,
    };
    let name = match class {
        Class::Matrix => {
            let shape = rest.iter().position(|part| part.starts_with('m') && part.contains('k'));
            let sparse = rest.iter().any(|part| part.starts_with("sp"));
            let kept = rest[shape.unwrap_or(0)..]
                .iter()
                .filter(|part| !matches!(**part, "row" | "col" | "satfinite"));
            let sparse = if sparse { ".sp" } else { "" };
            format!("{head}{sparse}.{}", kept.copied().collect::<Vec<_>>().join("."))
        }
        Class::Load | Class::Store | Class::Atomic => {
            let space = rest.iter().find(|part| {
                let base = part.split("::").next().unwrap_or_default();
                matches!(base, "global" | "shared" | "local" | "param" | "const")
            });
            let space = space.map_or("", |part| part.split("::").next().unwrap_or_default());
            match (head, space) {
                ("ld" | "st" | "atom" | "red", "") => format!("{head} (generic)"),
                (_, "") => head.to_owned(),
                _ => format!("{head}.{space}"),
            }
        }
        Class::Tensor | Class::Copy => first(rest.iter().take_while(|part| !part.contains("::")).count().min(4)),
        Class::Synchronise => first(if head == "cp" { 3 } else { 1 }),
        Class::Lanes => first(if head == "shfl" { 2 } else { 1 }),
        _ => head.to_owned(),
    };
    (class, name)
}

/// Multiply-adds of one matrix instruction of this name, as [`classify`] gives it: of the whole warpgroup for `wgmma`, of
/// the warp otherwise.
pub fn multiply_adds(name: &str) -> Option<u64> {
    let shape = name
        .split('.')
        .find(|part| part.starts_with('m') && part.contains('k') && part.contains('n'))?;
    let (m, rest) = shape.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    let [m, n, k] = [m, n, k].map(str::parse::<u64>);
    m.ok()?.checked_mul(n.ok()?)?.checked_mul(k.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_have_their_classes() {
        for (opcode, class, name) in [
            (
                "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16",
                Class::Matrix,
                "wgmma.m64n128k16.f32.bf16.bf16",
            ),
            (
                "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16",
                Class::Matrix,
                "wgmma.sp.m64n8k32.f32.f16.f16",
            ),
            (
                "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
                Class::Matrix,
                "mma.m16n8k16.f32.bf16.bf16.f32",
            ),
            ("wgmma.fence.sync.aligned", Class::Synchronise, "wgmma.fence"),
            ("fma.rn.ftz.f32", Class::Float, "fma"),
            ("add.rn.bf16x2", Class::Float, "add"),
            ("mad.lo.u32", Class::Integer, "mad"),
            ("add.s64", Class::Integer, "add"),
            ("ex2.approx.ftz.f32", Class::Special, "ex2"),
            ("ld.global.v4.b32", Class::Load, "ld.global"),
            ("ld.acquire.gpu.b32", Class::Load, "ld (generic)"),
            ("st.shared::cta.v2.b32", Class::Store, "st.shared"),
            (
                "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                Class::Load,
                "ldmatrix.shared",
            ),
            ("red.shared.add.u32", Class::Atomic, "red.shared"),
            ("cp.async.cg.shared.global", Class::Copy, "cp.async.cg.shared.global"),
            ("cp.async.wait_group", Class::Synchronise, "cp.async.wait_group"),
            (
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
                Class::Tensor,
                "cp.async.bulk.tensor.2d",
            ),
            (
                "mbarrier.try_wait.parity.shared.b64",
                Class::Synchronise,
                "mbarrier.try_wait",
            ),
            ("bra.uni", Class::Branch, "bra"),
        ] {
            assert_eq!(classify(opcode), (class, name.to_owned()), "{opcode}");
        }
    }

    #[test]
    fn products_are_counted_by_shape() {
        assert_eq!(multiply_adds("wgmma.m64n128k16.f32.bf16.bf16"), Some(64 * 128 * 16));
        assert_eq!(multiply_adds("mma.m16n8k16.f32.bf16.bf16.f32"), Some(16 * 8 * 16));
        assert_eq!(multiply_adds("ld.global"), None);
    }
}
