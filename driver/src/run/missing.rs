//! Arguments that were not given: each with its type and something that fits it; and names that are no argument's.
use crate::failure::{Failure, Result};
use girih_core::{
    dtype::DType,
    manifest::{Arg, Kernel},
};
use girih_runtime::{run::Named, spec::Spec};
use strsim::levenshtein;

/// A size where the kernel leaves it open.
const EXAMPLE_SIZE: u64 = 256;

/// Refuses a command line that leaves an argument out or gives one that there is not; all of them are named, and what may be
/// a slip of the pen comes first, since it explains what is missing.
pub(crate) fn check(kernel: &Kernel, given: &[Named<Spec>]) -> Result<()> {
    let is_missing = |arg: &&Arg| !given.iter().any(|named| named.name == arg.name());
    let is_known = |name: &str| kernel.args.iter().any(|arg| arg.name() == name);
    let unknown = given.iter().filter(|named| !is_known(&named.name));
    let mut missing: Vec<&Arg> = kernel.args.iter().filter(is_missing).collect();
    let mut said = Vec::new();
    for named in unknown {
        let near = nearest(&named.name, &missing);
        said.push(misspelt(kernel, &named.name, near));
        // Whoever meant it has given it.
        missing.retain(|arg| near.is_none_or(|near| near.name() != arg.name()));
    }
    let mut missing = said.into_iter().chain(missing.iter().map(|arg| sentence(kernel, arg)));
    let Some(first) = missing.next() else { return Ok(()) };
    let mut failure = Failure::usage(first);
    failure
        .messages
        .extend(missing.flat_map(|text| Failure::new(text).messages));
    Err(failure)
}

/// The missing argument that may be meant by a name that no argument has.
fn nearest<'a>(name: &str, missing: &[&'a Arg]) -> Option<&'a Arg> {
    let is_near =
        |arg: &&&Arg| arg.name().eq_ignore_ascii_case(name) || levenshtein(arg.name(), name) <= name.len() / 3;
    let near = missing.iter().filter(is_near);
    near.min_by_key(|arg| levenshtein(arg.name(), name)).copied()
}

/// A name that no argument has, and the argument that may be meant.
fn misspelt(kernel: &Kernel, name: &str, near: Option<&Arg>) -> String {
    let names: Vec<&str> = kernel.args.iter().map(Arg::name).collect();
    let names = match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    };
    let kernel = &kernel.name;
    match near {
        Some(near) => format!(
            "kernel `{kernel}`, argument {name}: the kernel has no such argument; did you mean {}?",
            near.name()
        ),
        None => format!("kernel `{kernel}`, argument {name}: the kernel has no such argument; it has {names}"),
    }
}

fn sentence(kernel: &Kernel, arg: &Arg) -> String {
    let (name, kernel) = (arg.name(), &kernel.name);
    match arg {
        Arg::Scalar { dtype, .. } => {
            let example = if *dtype == DType::I1 { "true" } else { "1" };
            format!(
                "kernel `{kernel}`, argument {name}: a number of type {dtype} is missing; give --arg {name}={dtype}:{example}"
            )
        }
        Arg::TensorMap { dtype, form, .. } => {
            let sizes = vec![EXAMPLE_SIZE.to_string(); form.rank].join(",");
            format!(
                "kernel `{kernel}`, argument {name}: a tensor map is missing; give the array that it is to be made of, for \
                 instance --arg {name}=randn:{dtype}[{sizes}]"
            )
        }
        Arg::Memref { dtype, shape, .. } => {
            let sizes = |open: &dyn Fn() -> String| {
                let size = |size: &Option<u64>| size.map_or_else(open, |size| size.to_string());
                shape.iter().map(size).collect::<Vec<_>>().join(",")
            };
            format!(
                "kernel `{kernel}`, argument {name}: an array {dtype}[{}] is missing; give for instance \
                 --arg {name}=randn:{dtype}[{}], or zeros where the kernel only writes",
                sizes(&|| "?".to_owned()),
                sizes(&|| EXAMPLE_SIZE.to_string())
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn each_missing_argument_comes_with_an_example_that_parses() {
        let arg = |name: &str, shape: Vec<Option<u64>>| Arg::Memref {
            name: name.into(),
            dtype: DType::Bf16,
            strides: shape.iter().map(|_| None).collect(),
            shape,
            align: 2,
        };
        let scalar = Arg::Scalar {
            name: "n".into(),
            dtype: DType::I32,
        };
        let kernel = Kernel {
            name: "gemm".into(),
            args: vec![arg("A", vec![None, Some(64)]), arg("B", vec![None]), scalar],
            params: vec![],
            tensor_maps: vec![],
            grid: [1, 1, 1].map(girih_core::manifest::Expr::Const),
            block: [1; 3],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            facts: vec![],
        };
        let given = ["A=zeros:bf16[4,64]".parse().expect("a SPEC")];
        assert_eq!(
            check(&kernel, &given).unwrap_err().to_string(),
            "error: kernel `gemm`, argument B: an array bf16[?] is missing; give for instance --arg \
             B=randn:bf16[256], or zeros where the kernel only writes\n\
             error: kernel `gemm`, argument n: a number of type i32 is missing; give --arg n=i32:1"
        );
        let misspelt = ["a=zeros:bf16[4,64]", "x=i32:1", "B=zeros:bf16[4]", "n=i32:1"];
        let misspelt = misspelt.map(|text| text.parse().expect("a SPEC"));
        let said: Vec<String> = check(&kernel, &misspelt)
            .unwrap_err()
            .messages
            .into_iter()
            .map(|message| message.text)
            .collect();
        assert_eq!(
            said,
            [
                "kernel `gemm`, argument a: the kernel has no such argument; did you mean A?",
                "kernel `gemm`, argument x: the kernel has no such argument; it has A, B, n"
            ],
            "A is not called missing as well"
        );
        let complete =
            ["A=randn:bf16[256,64]", "B=randn:bf16[256]", "n=i32:1"].map(|text| text.parse().expect("a SPEC"));
        assert!(check(&kernel, &complete).is_ok());
        assert_eq!(check(&kernel, &[]).unwrap_err().messages.len(), 3);
    }
}
