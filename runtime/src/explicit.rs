//! PTX from anywhere: without a launch manifest, but with everything that one says given on the command line.
use crate::{
    array::FileType,
    error::{Error, Result},
    run::Named,
    spec::{Place, Spec},
};
use clap::Args;
use girih_core::manifest::{Arg, Expr, Kernel, Manifest, Param, SCHEMA};
use std::str::FromStr;

/// Three counts, of which the last may be left out: `4`, `4,2` or `4,2,1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

impl FromStr for Dim3 {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut counts = [1; 3];
        let parts: Vec<&str> = text.split(',').collect();
        let fits = parts.len() <= 3
            && parts
                .iter()
                .zip(&mut counts)
                .all(|(part, count)| match part.trim().parse() {
                    Ok(number) => {
                        *count = number;
                        true
                    }
                    Err(_) => false,
                });
        match fits {
            true => Ok(Dim3(counts)),
            false => Err(format!(
                "expected one to three counts such as 4 or 4,2,1; found `{text}`"
            )),
        }
    }
}

/// The launch of PTX that has no manifest.
#[derive(Clone, Debug, Default, Args)]
pub struct Explicit {
    /// For PTX without a launch manifest: threads of a block. Its parameters are the --arg in order.
    #[arg(long, value_name = "X[,Y[,Z]]", allow_hyphen_values = true)]
    pub block: Option<Dim3>,
    /// For PTX without a launch manifest: blocks; one by default.
    #[arg(long, value_name = "X[,Y[,Z]]", requires = "block", allow_hyphen_values = true)]
    pub grid: Option<Dim3>,
    /// For PTX without a launch manifest: blocks of a cluster.
    #[arg(long, value_name = "X[,Y[,Z]]", requires = "block", allow_hyphen_values = true)]
    pub cluster: Option<Dim3>,
    /// For PTX without a launch manifest: dynamic shared memory of a block in bytes.
    #[arg(long, value_name = "BYTES", requires = "block", value_parser = number::<u32>(0, u32::MAX.into()), allow_hyphen_values = true)]
    pub shared: Option<u32>,
}

/// Reads a number of a command line, from `least` to `most`.
///
/// Errors of what it returns: anything else.
pub fn number<T: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> std::result::Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|n| (least..=most).contains(n));
        let number = number.and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| format!("expected a number from {least} to {most}, found `{text}`"))
    }
}

impl Explicit {
    /// Whether the launch is given.
    pub fn is_given(&self) -> bool {
        self.block.is_some()
    }

    /// The manifest that says what the command line said. Each array is one 64-bit pointer parameter, each number one
    /// parameter of its type, in the order of `args`.
    ///
    /// Errors: PTX that has a manifest of its own, or not the kernel; dimensions that no device launches; arguments that are
    /// not the kernel's parameters by number and size; a SPEC that gives no array.
    pub fn manifest_for(&self, ptx: &str, kernel: Option<&str>, args: &[Named<Spec>]) -> Result<Manifest> {
        if ptx.trim().is_empty() {
            return Err(Error::Manifest("the PTX is empty".to_owned()));
        }
        if ptx.trim_start().starts_with("// girih manifest") {
            return Err(Error::Usage(
                "the PTX has a launch manifest; --block, --grid, --cluster and --shared are for PTX without one"
                    .to_owned(),
            ));
        }
        let dims = |given: Option<Dim3>| given.map_or([1; 3], |dims| dims.0);
        let (target, name) = (target(ptx)?, entry(ptx, kernel)?);
        self.check_dims().map_err(Error::Usage)?;
        for (i, arg) in args.iter().enumerate() {
            if args[..i].iter().any(|earlier| earlier.name == arg.name) {
                return Err(Error::Usage(format!(
                    "--arg {}: the name is given twice; names of arguments of PTX are free, so give each parameter its own",
                    arg.name
                )));
            }
        }
        let made = args.iter().map(argument).collect::<Result<Vec<_>>>()?;
        if let Some(found) = parameters(ptx, &name) {
            fit(&name, &found, &made).map_err(Error::Usage)?;
        }
        Ok(Manifest {
            schema: SCHEMA,
            girih: env!("CARGO_PKG_VERSION").to_owned(),
            target,
            kernels: vec![Kernel {
                name,
                args: made,
                params: (0..)
                    .zip(args)
                    .map(|(arg, given)| match given.value.scalar() {
                        Some(_) => Param::Scalar { arg },
                        None => Param::Pointer { arg },
                    })
                    .collect(),
                tensor_maps: Vec::new(),
                grid: dims(self.grid).map(|count| Expr::Const(i64::from(count))),
                block: dims(self.block),
                cluster: dims(self.cluster),
                dynamic_shared_bytes: self.shared.unwrap_or(0),
                facts: vec![],
            }],
        })
    }

    /// What no device launches, by the flag that says it.
    fn check_dims(&self) -> std::result::Result<(), String> {
        let shown = |Dim3([x, y, z]): Dim3| format!("{x},{y},{z}");
        let count = |Dim3(dims): Dim3| dims.iter().map(|count| u64::from(*count)).product::<u64>();
        let flags = [
            ("--block", self.block, MAX_BLOCK, MAX_THREADS, "threads in a block"),
            (
                "--cluster",
                self.cluster,
                [MAX_CLUSTER; 3],
                MAX_CLUSTER,
                "blocks in a cluster",
            ),
            ("--grid", self.grid, MAX_GRID, u32::MAX, "blocks"),
        ];
        for (flag, dims, most, most_in_all, what) in flags {
            let Some(dims) = dims else { continue };
            for (axis, (found, most)) in ["x", "y", "z"].into_iter().zip(dims.0.into_iter().zip(most)) {
                // A grid may be empty: then nothing is launched.
                let least = u32::from(flag != "--grid");
                if !(least..=most).contains(&found) {
                    return Err(format!(
                        "{flag} {}: {axis} is {found}; expected {least} to {most}",
                        shown(dims)
                    ));
                }
            }
            if flag != "--grid" && count(dims) > u64::from(most_in_all) {
                let found = count(dims);
                return Err(format!(
                    "{flag} {}: {found} {what}; expected at most {most_in_all}",
                    shown(dims)
                ));
            }
        }
        if let (Some(cluster), grid) = (self.cluster, self.grid.unwrap_or(Dim3([1; 3])))
            && (0..3).any(|d| !grid.0[d].is_multiple_of(cluster.0[d]))
        {
            return Err(format!(
                "--cluster {} does not divide --grid {}: give a grid of whole clusters",
                shown(cluster),
                shown(grid)
            ));
        }
        match self.shared {
            Some(found) if found > MAX_SHARED_BYTES => Err(format!(
                "--shared {found}: a block has at most {MAX_SHARED_BYTES} bytes of shared memory"
            )),
            _ => Ok(()),
        }
    }
}

/// Most threads of a block, and along each axis.
const MAX_THREADS: u32 = 1024;
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Most blocks along each axis of a grid.
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// Most blocks of a cluster, where a kernel allows more than the portable eight.
const MAX_CLUSTER: u32 = 16;
/// Most shared memory of a block.
const MAX_SHARED_BYTES: u32 = 232_448;

/// A parameter of a kernel: its name and bytes.
type Parameter = (String, u64);

/// The parameters of `.entry name`, in order; `None` where the text is not what PTX has there, which its loader reports.
fn parameters(ptx: &str, name: &str) -> Option<Vec<Parameter>> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_$%".contains(c);
    let code = without_comments(ptx).replace(['\n', '\r', '\t'], " ");
    let after = code.split(".entry").skip(1).find_map(|rest| {
        let rest = rest.trim_start().strip_prefix(name)?;
        (!rest.starts_with(is_name)).then_some(rest.trim_start())
    })?;
    let Some(list) = after.strip_prefix('(') else {
        return Some(Vec::new());
    };
    let list = list.split(')').next()?.trim();
    if list.is_empty() {
        return Some(Vec::new());
    }
    list.split(',').map(parameter).collect()
}

/// One parameter: `.param .align 64 .b8 map[128]`.
fn parameter(text: &str) -> Option<Parameter> {
    let text = text.replace(" [", "[").replace("[ ", "[").replace(" ]", "]");
    let words: Vec<&str> = text.split_whitespace().collect();
    let bits = |word: &&str| match word.strip_prefix('.')? {
        "pred" => None,
        ty => ty
            .trim_start_matches(|c: char| c.is_ascii_lowercase())
            .parse::<u64>()
            .ok(),
    };
    let bits = words.iter().find_map(bits)?;
    let named = words.iter().rev().find(|word| !word.starts_with('.'))?;
    let (name, length) = match named.split_once('[') {
        Some((name, length)) => (name, length.trim_end_matches(']').trim().parse().ok()?),
        None => (*named, 1),
    };
    Some((name.to_owned(), (bits / 8).checked_mul(length)?))
}

/// The text with a space in place of each comment in `/* */`, and without those that end with their line.
fn without_comments(ptx: &str) -> String {
    let (mut code, mut rest) = (String::with_capacity(ptx.len()), ptx);
    while let Some(at) = rest.find(['/', '"']) {
        let (before, from) = rest.split_at(at);
        code.push_str(before);
        rest = if from.starts_with("//") {
            from.find('\n').map_or("", |end| &from[end..])
        } else if let Some(inside) = from.strip_prefix("/*") {
            code.push(' ');
            inside.split_once("*/").map_or("", |(_, after)| after)
        } else {
            // A string, such as the name of a file, as a whole.
            let end = match from.starts_with('"') {
                true => from[1..].find('"').map_or(from.len(), |end| end + 2),
                false => 1,
            };
            code.push_str(&from[..end]);
            &from[end..]
        };
    }
    code.push_str(rest);
    code
}

/// Whether the arguments are the parameters, by number and size.
fn fit(kernel: &str, found: &[Parameter], args: &[Arg]) -> std::result::Result<(), String> {
    let bytes = |arg: &Arg| match arg {
        Arg::Scalar { dtype, .. } => dtype.bytes(),
        _ => 8,
    };
    let takes = match found {
        [] => "takes no parameters".to_owned(),
        _ => {
            let each: Vec<String> = found
                .iter()
                .map(|(name, bytes)| format!("{name} ({bytes} bytes)"))
                .collect();
            format!("takes {}", each.join(", "))
        }
    };
    let large = found.iter().find(|(_, bytes)| *bytes > 8);
    if let Some((name, bytes)) = large {
        return Err(format!(
            "kernel `{kernel}` {takes}; an --arg is a pointer or a number, and {name} of {bytes} bytes is neither: write the PTX \
             a launch manifest"
        ));
    }
    if found.len() != args.len() {
        let given: Vec<String> = args
            .iter()
            .map(|arg| format!("{} ({} bytes)", arg.name(), bytes(arg)))
            .collect();
        let given = match given.is_empty() {
            true => "no --arg is given".to_owned(),
            false => format!("the --arg are {}", given.join(", ")),
        };
        return Err(format!(
            "kernel `{kernel}` {takes}, but {given}; give one --arg for each parameter, in order: an array for a pointer, a \
             number such as i32:1 otherwise"
        ));
    }
    let wrong = found.iter().zip(args).find(|((_, wanted), arg)| *wanted != bytes(arg));
    let Some(((name, wanted), arg)) = wrong else {
        return Ok(());
    };
    let remedy = match (wanted, arg) {
        (8, _) => "give an array for a pointer, or a number of 8 bytes such as i64:1".to_owned(),
        (bytes, _) => format!("give a number of {bytes} bytes such as i{}:1", 8 * bytes),
    };
    Err(format!(
        "kernel `{kernel}` {takes}, but --arg {} for {name} has {} bytes; {remedy}",
        arg.name(),
        bytes(arg)
    ))
}

/// An argument of any size, as the SPEC gives it.
fn argument(given: &Named<Spec>) -> Result<Arg> {
    let name = given.name.clone();
    if let Some(scalar) = given.value.scalar() {
        let dtype = scalar.dtype;
        return Ok(Arg::Scalar { name, dtype });
    }
    let array = given.value.array(&Place {
        name: &name,
        file_type: FileType::Any,
        strides: None,
        seed: 0,
    })?;
    let rank = array.shape().len();
    Ok(Arg::Memref {
        name,
        dtype: array.dtype(),
        shape: vec![None; rank],
        strides: vec![None; rank],
        align: array.dtype().bytes(),
    })
}

/// What `.target` says first.
fn target(ptx: &str) -> Result<String> {
    let code = without_comments(ptx);
    let line = code.lines().find_map(|line| line.trim_start().strip_prefix(".target"));
    line.and_then(|rest| rest.split(',').next())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .ok_or_else(|| Error::Manifest("the PTX has no .target; it is truncated, or not PTX".to_owned()))
}

/// The kernel of that name, or the only one.
fn entry(ptx: &str, wanted: Option<&str>) -> Result<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_$%".contains(c);
    let names: Vec<String> = without_comments(ptx)
        .split(".entry")
        .skip(1)
        .filter_map(|rest| {
            let rest = rest.trim_start();
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            Some(rest[..end].to_owned()).filter(|name| !name.is_empty())
        })
        .collect();
    match (wanted, &names[..]) {
        (Some(wanted), _) if names.iter().any(|name| name == wanted) => Ok(wanted.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (_, []) => Err(Error::Manifest(
            "the PTX has no .entry, so nothing to launch".to_owned(),
        )),
        (Some(wanted), _) => Err(Error::Usage(format!(
            "the PTX has no kernel `{wanted}`; it has {}",
            names.join(", ")
        ))),
        (None, _) => Err(Error::Usage(format!(
            "the PTX has several kernels; choose one of {} with --kernel",
            names.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Program;

    const PTX: &str = ".version 8.0\n.target sm_90a, debug\n.address_size 64\n.visible .entry k(\n.param .u64 p, .param .u32 \
                       n) { ret; }\n";

    fn explicit() -> Explicit {
        Explicit {
            block: Some("64".parse().unwrap()),
            grid: Some("4,2".parse().unwrap()),
            ..Explicit::default()
        }
    }

    #[test]
    fn the_command_line_becomes_a_manifest() {
        let args = ["p=zeros:f32[8]", "n=i32:8"].map(|text| text.parse().unwrap());
        let manifest = explicit().manifest_for(PTX, None, &args).unwrap();
        let program = Program::new(PTX.to_owned(), manifest).unwrap();
        let kernel = program.kernel(Some("k")).unwrap();
        assert_eq!(
            (kernel.block, program.manifest().target.as_str()),
            ([64, 1, 1], "sm_90a")
        );
        assert_eq!(kernel.grid, [4, 2, 1].map(Expr::Const));
        assert_eq!(kernel.params, [Param::Pointer { arg: 0 }, Param::Scalar { arg: 1 }]);
        let own = program.manifest().to_ptx_comment() + PTX;
        let again = explicit().manifest_for(&own, None, &args).unwrap_err();
        assert!(
            again.to_string().starts_with("the PTX has a launch manifest"),
            "{again}"
        );
    }

    #[test]
    fn arguments_are_the_parameters() {
        let wrong = |args: &[&str]| {
            let args: Vec<_> = args.iter().map(|text| text.parse().unwrap()).collect();
            explicit().manifest_for(PTX, None, &args).unwrap_err()
        };
        let none = wrong(&[]);
        assert!(none.is_usage());
        assert_eq!(
            none.to_string(),
            "kernel `k` takes p (8 bytes), n (4 bytes), but no --arg is given; give one --arg for each parameter, in order: an \
             array for a pointer, a number such as i32:1 otherwise"
        );
        let text = wrong(&["p=zeros:f32[8]", "n=i64:8"]).to_string();
        assert!(
            text.ends_with("but --arg n for n has 8 bytes; give a number of 4 bytes such as i32:1"),
            "{text}"
        );
        let text = wrong(&["p=i32:8", "n=i32:8"]).to_string();
        assert!(
            text.contains("--arg p for p has 4 bytes; give an array for a pointer"),
            "{text}"
        );
        let text = wrong(&["p=zeros:f32[8]", "p=i32:8"]).to_string();
        assert!(text.starts_with("--arg p: the name is given twice"), "{text}");
        let map = PTX.replace(".param .u32 n", ".param .align 64 .b8 map[128]");
        let text = explicit().manifest_for(&map, None, &[]).unwrap_err().to_string();
        assert!(
            text.contains("takes p (8 bytes), map (128 bytes); an --arg is a pointer or a number"),
            "{text}"
        );
        // Attributes of pointers, line breaks, comments, no list at all.
        let list = "k ( // first\n .param .u64 .ptr .global .align 16 a,\n .param .f64 b , .param .b8 c [ 4 ] )";
        let found = parameters(&format!(".entry kk(.param .u32 x) {{}} .entry {list}"), "k").unwrap();
        assert_eq!(found, [("a".to_owned(), 8), ("b".to_owned(), 8), ("c".to_owned(), 4)]);
        assert_eq!(parameters(".entry k { ret; }", "k"), Some(Vec::new()));
        // A comma, a bracket or a kernel in a comment is none.
        let commented = "/* .entry k(.param .u8 z) */ .entry k(.param /* a, b) */ .u32 n, // c,\n .param .u64 p)";
        let found = parameters(commented, "k").unwrap();
        assert_eq!(found, [("n".to_owned(), 4), ("p".to_owned(), 8)]);
        assert_eq!(entry(&format!("/* .entry l() */ {commented}"), None).unwrap(), "k");
        assert_eq!(
            without_comments("a/b /* c\n*/d // e\n\"/f//g/*\" h /* i"),
            "a/b  d \n\"/f//g/*\" h  "
        );
        // A size that no machine has is left to the loader.
        assert_eq!(parameters(".entry k(.param .b64 x[18446744073709551615])", "k"), None);
    }

    #[test]
    fn dimensions_that_no_device_launches_are_named_by_their_flag() {
        let wrong = |[block, grid, cluster]: [&str; 3], shared| {
            let dims = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
            let explicit = Explicit {
                block: dims(block),
                grid: dims(grid),
                cluster: dims(cluster),
                shared,
            };
            let error = explicit.manifest_for(PTX, None, &[]).unwrap_err();
            assert!(error.is_usage(), "{error}");
            error.to_string()
        };
        let cases = [
            (["0", "", ""], "--block 0,1,1: x is 0; expected 1 to 1024"),
            (["1025", "", ""], "--block 1025,1,1: x is 1025; expected 1 to 1024"),
            (["1,1,65", "", ""], "--block 1,1,65: z is 65; expected 1 to 64"),
            (
                ["64,32", "", ""],
                "--block 64,32,1: 2048 threads in a block; expected at most 1024",
            ),
            (
                ["32", "1,65536", ""],
                "--grid 1,65536,1: y is 65536; expected 0 to 65535",
            ),
            (["32", "", "0"], "--cluster 0,1,1: x is 0; expected 1 to 16"),
            (
                ["32", "32", "4,4,2"],
                "--cluster 4,4,2: 32 blocks in a cluster; expected at most 16",
            ),
            (
                ["32", "4", "3"],
                "--cluster 3,1,1 does not divide --grid 4,1,1: give a grid of whole clusters",
            ),
        ];
        for (dims, said) in cases {
            assert_eq!(wrong(dims, None), said);
        }
        assert_eq!(
            wrong(["32", "", ""], Some(300_000)),
            "--shared 300000: a block has at most 232448 bytes of shared memory"
        );
    }

    #[test]
    fn what_is_not_there_is_named() {
        let wrong = |ptx: &str, kernel| explicit().manifest_for(ptx, kernel, &[]).unwrap_err().to_string();
        assert_eq!(wrong(PTX, Some("x")), "the PTX has no kernel `x`; it has k");
        assert!(wrong("", None) == "the PTX is empty" && wrong("//", None).starts_with("the PTX has no .target"));
        assert!(wrong(".target sm_90a\n", None).starts_with("the PTX has no .entry"));
        let two = format!("{PTX}.visible .entry l() {{ ret; }}\n");
        assert_eq!(
            wrong(&two, None),
            "the PTX has several kernels; choose one of k, l with --kernel"
        );
        assert_eq!(
            "1,x".parse::<Dim3>().unwrap_err(),
            "expected one to three counts such as 4 or 4,2,1; found `1,x`"
        );
        assert!("1,1,1,1".parse::<Dim3>().is_err());
    }
}
