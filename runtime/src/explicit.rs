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
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub block: Option<Dim3>,
    /// For PTX without a launch manifest: blocks; one by default.
    #[arg(long, value_name = "X[,Y[,Z]]", requires = "block")]
    pub grid: Option<Dim3>,
    /// For PTX without a launch manifest: blocks of a cluster.
    #[arg(long, value_name = "X[,Y[,Z]]", requires = "block")]
    pub cluster: Option<Dim3>,
    /// For PTX without a launch manifest: dynamic shared memory of a block in bytes.
    #[arg(long, value_name = "BYTES", requires = "block")]
    pub shared: Option<u32>,
}

impl Explicit {
    /// Whether the launch is given.
    pub fn is_given(&self) -> bool {
        self.block.is_some()
    }

    /// The manifest that says what the command line said. Each array is one 64-bit pointer parameter, each number one
    /// parameter of its type, in the order of `args`.
    ///
    /// Errors: PTX that has a manifest of its own, or not the kernel; a SPEC that gives no array.
    pub fn manifest_for(&self, ptx: &str, kernel: Option<&str>, args: &[Named<Spec>]) -> Result<Manifest> {
        if ptx.trim_start().starts_with("// girih manifest") {
            return Err(Error::Usage(
                "the PTX has a launch manifest; --block, --grid, --cluster and --shared are for PTX without one"
                    .to_owned(),
            ));
        }
        let dims = |given: Option<Dim3>| given.map_or([1; 3], |dims| dims.0);
        Ok(Manifest {
            schema: SCHEMA,
            girih: env!("CARGO_PKG_VERSION").to_owned(),
            target: target(ptx)?,
            kernels: vec![Kernel {
                name: entry(ptx, kernel)?,
                args: args.iter().map(argument).collect::<Result<_>>()?,
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
            }],
        })
    }
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
    let line = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target"));
    line.and_then(|rest| rest.split([',', '/']).next())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .ok_or_else(|| Error::Manifest("the PTX has no .target; it is truncated, or not PTX".to_owned()))
}

/// The kernel of that name, or the only one.
fn entry(ptx: &str, wanted: Option<&str>) -> Result<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_$%".contains(c);
    let code = |line: &'_ str| line.split("//").next().unwrap_or_default().to_owned();
    let names: Vec<String> = ptx
        .lines()
        .map(code)
        .filter_map(|line| {
            let (_, rest) = line.split_once(".entry")?;
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
    fn what_is_not_there_is_named() {
        let wrong = |ptx: &str, kernel| explicit().manifest_for(ptx, kernel, &[]).unwrap_err().to_string();
        assert_eq!(wrong(PTX, Some("x")), "the PTX has no kernel `x`; it has k");
        assert!(wrong("", None).starts_with("the PTX has no .target"));
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
