//! One run from the command line: arguments from SPECs, a launch, outputs to files, checks, times. `girih run` and
//! `girih-launch` are thin shells around it.
use crate::{
    array::{Array, FileType, write_npy},
    check::{CheckSpec, Measure, Report, compare},
    error::{Error, Result},
    file::is_same,
    launch::{HostValue, Session, bind},
    program::Program,
    spec::{MapFields, Place, Spec},
};
use girih_core::{
    device::Device,
    manifest::{Arg, Kernel},
};
use serde::Serialize;
use std::{fmt, path::PathBuf, str::FromStr};

/// `NAME=VALUE` on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    /// Argument's name.
    pub name: String,
    /// What follows the sign.
    pub value: T,
}

impl<T: FromStr<Err: fmt::Display>> FromStr for Named<T> {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, value) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("expected NAME=VALUE, found `{text}`"))?;
        let value = value.parse().map_err(|error: T::Err| error.to_string())?;
        Ok(Named {
            name: name.trim_start_matches('%').to_owned(),
            value,
        })
    }
}

/// Where to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A GPU if there is one, else the simulator.
    Auto,
    /// The CUDA device of that number.
    Cuda(usize),
    /// The simulator.
    Sim,
}

impl FromStr for DeviceChoice {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let number = |text: &str| text.strip_prefix("cuda:").and_then(|n| n.parse().ok());
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "sim" => Ok(DeviceChoice::Sim),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => number(text)
                .map(DeviceChoice::Cuda)
                .ok_or_else(|| format!("unknown device `{text}`; expected auto, cuda, cuda:N or sim")),
        }
    }
}

/// What to do with a kernel.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// A SPEC for each argument.
    pub args: Vec<Named<Spec>>,
    /// Arguments to write to files after the launch.
    pub outs: Vec<Named<PathBuf>>,
    /// Arguments to compare after the launch.
    pub checks: Vec<Named<CheckSpec>>,
    /// Launches to time, after the outputs are read.
    pub time: usize,
    /// Seed of random arguments that name none.
    pub seed: u64,
}

/// One comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// Argument.
    pub argument: String,
    /// Whether every element is within its bound.
    pub right: bool,
    /// Details.
    #[serde(flatten)]
    pub report: Report,
}

impl Checked {
    /// The comparison of an argument.
    pub fn new(argument: &str, report: Report) -> Self {
        Checked {
            argument: argument.to_owned(),
            right: report.is_right(),
            report,
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Kernel.
    pub kernel: String,
    /// Device in words.
    pub device: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Comparisons, in the order asked for.
    pub checks: Vec<Checked>,
    /// Seconds of each timed launch; `None` if not asked for, or if the device has no clock.
    pub seconds: Option<Vec<f64>>,
}

impl Outcome {
    /// Whether every check holds.
    pub fn is_right(&self) -> bool {
        self.checks.iter().all(|check| check.right)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.grid;
        match self.grid.contains(&0) {
            true => writeln!(
                f,
                "{}: the grid is empty ({x}x{y}x{z}), nothing was launched",
                self.kernel
            )?,
            false => writeln!(f, "{}: ran on {}, grid {x}x{y}x{z}", self.kernel, self.device)?,
        }
        for check in &self.checks {
            writeln!(
                f,
                "{}: {}: {}",
                if check.right { "right" } else { "WRONG" },
                check.argument,
                check.report
            )?;
        }
        if let Some(seconds) = &self.seconds {
            let mut sorted = seconds.clone();
            sorted.sort_by(f64::total_cmp);
            if let [least, .., most] | [least @ most] = sorted[..] {
                let median = sorted[sorted.len() / 2];
                writeln!(
                    f,
                    "time: {} launches, median {:.2} us, least {:.2}, most {:.2}",
                    sorted.len(),
                    median * 1e6,
                    least * 1e6,
                    most * 1e6
                )?;
            }
        }
        Ok(())
    }
}

/// Fields of tensor maps that SPECs give by themselves, for each of the kernel's arguments.
fn map_fields(kernel: &Kernel, args: &[Named<Spec>]) -> Result<Vec<Option<MapFields>>> {
    let of = |arg: &Arg| match args.iter().find(|given| given.name == arg.name()) {
        Some(given) => given.value.map_fields(),
        None => Ok(None),
    };
    let fields = kernel.args.iter().map(of).collect::<Result<Vec<_>>>()?;
    let stray = kernel.args.iter().zip(&fields).find(|(arg, fields)| {
        let takes = matches!(arg, Arg::TensorMap { .. });
        fields.is_some() && !takes
    });
    match stray {
        None => Ok(fields),
        Some((arg, _)) => Err(Error::Usage(format!(
            "argument {} is no tensor map, but fields of one are given for it; leave the braces out",
            arg.name()
        ))),
    }
}

/// Makes the values of a kernel's arguments from SPECs, in the layouts that the kernel wants. Fields of tensor maps are
/// refused: [`run`] takes them.
pub fn make_values(kernel: &Kernel, args: &[Named<Spec>], seed: u64) -> Result<Vec<HostValue>> {
    match map_fields(kernel, args)?.iter().any(Option::is_some) {
        false => values_of(kernel, args, seed),
        true => Err(Error::Usage(
            "fields of tensor maps are not taken here; run the kernel by `girih run`".into(),
        )),
    }
}

fn values_of(kernel: &Kernel, args: &[Named<Spec>], seed: u64) -> Result<Vec<HostValue>> {
    let named = args.iter().map(|arg| (arg.name.clone(), &arg.value)).collect();
    let specs = bind(kernel, named)?;
    let value = |(arg, spec): (&Arg, &Spec)| match (arg, spec.scalar()) {
        (Arg::Memref { shape, .. }, Some(scalar)) if !shape.is_empty() => Ok(HostValue::Scalar(scalar)),
        (Arg::Scalar { .. } | Arg::TensorMap { .. }, Some(scalar)) => Ok(HostValue::Scalar(scalar)),
        (
            Arg::Memref {
                name, dtype, strides, ..
            },
            _,
        ) => {
            let place = Place {
                name,
                file_type: FileType::Exactly(*dtype),
                strides: Some(strides),
                seed,
            };
            spec.array(&place).map(HostValue::Array)
        }
        (Arg::Scalar { name, dtype } | Arg::TensorMap { name, dtype, .. }, _) => {
            let place = Place {
                name,
                file_type: FileType::Exactly(*dtype),
                strides: None,
                seed,
            };
            spec.array(&place).map(HostValue::Array)
        }
    };
    kernel.args.iter().zip(specs).map(value).collect()
}

/// A check of one's own: gets the kernel and its arguments before and after the launch.
pub type Judge<'a> = &'a mut dyn FnMut(&Kernel, &[HostValue], &[HostValue]) -> Result<Vec<Checked>>;

/// Runs a kernel once, reads what is asked for, checks it, and times more launches.
pub fn run(device: &mut dyn Device, program: &Program, kernel: Option<&str>, request: &Request) -> Result<Outcome> {
    run_and_judge(device, program, kernel, request, None)
}

/// Refuses results that would replace a file that arguments or references are read from.
fn keep_inputs(request: &Request) -> Result<()> {
    let args = request.args.iter().map(|arg| &arg.value);
    let checks = request.checks.iter().map(|check| &check.value);
    let references = checks.flat_map(|check| {
        let scale = check.product.as_ref().map(|(_, scale)| scale);
        [Some(&check.reference), scale].into_iter().flatten()
    });
    let inputs: Vec<_> = args.chain(references).filter_map(Spec::file).collect();
    for out in &request.outs {
        if let Some(input) = inputs.iter().find(|input| is_same(input, &out.value)) {
            return Err(Error::Usage(format!(
                "--out {}: {} would replace {}, which is read; write to another file",
                out.name,
                out.value.display(),
                input.display()
            )));
        }
    }
    Ok(())
}

/// As [`run`], and `judge`, for which all arrays are read back, adds its checks to those of the request.
pub fn run_and_judge(
    device: &mut dyn Device,
    program: &Program,
    kernel: Option<&str>,
    request: &Request,
    judge: Option<Judge<'_>>,
) -> Result<Outcome> {
    let kernel = program.kernel(kernel)?;
    let position = |name: &str| {
        let is_it = |arg: &Arg| arg.name() == name && !matches!(arg, Arg::Scalar { .. });
        kernel.args.iter().position(is_it).ok_or_else(|| {
            Error::Usage(format!(
                "kernel `{}` has no array argument `{name}` to read back",
                kernel.name
            ))
        })
    };
    for name in request
        .outs
        .iter()
        .map(|out| &out.name)
        .chain(request.checks.iter().map(|check| &check.name))
    {
        position(name)?;
    }
    keep_inputs(request)?;
    let mut values = values_of(kernel, &request.args, request.seed)?;
    let device_name = device.name();
    let maps = map_fields(kernel, &request.args)?;
    let mut session = Session::with_maps(device, program, kernel, &values, &maps)?;
    session.run()?;
    let before = judge.is_some().then(|| values.clone());
    for (index, value) in values.iter_mut().enumerate() {
        let name = kernel.args[index].name();
        let asked = request.outs.iter().any(|out| out.name == name) || request.checks.iter().any(|c| c.name == name);
        if let (true, HostValue::Array(array)) = (asked || before.is_some(), value) {
            session.read(index, array)?;
        }
    }
    let result = |name: &str| match &values[position(name)?] {
        HostValue::Array(array) => Ok(array),
        HostValue::Scalar(_) => Err(Error::Usage(format!("argument {name} is not an array"))),
    };
    for out in &request.outs {
        write_npy(&out.value, result(&out.name)?)?;
    }
    let mut checks = Vec::new();
    for check in &request.checks {
        let report = check_one(result(&check.name)?, &check.name, &check.value, request.seed)?;
        checks.push(Checked::new(&check.name, report));
    }
    if let (Some(judge), Some(before)) = (judge, before) {
        checks.extend(judge(kernel, &before, &values)?);
    }
    let grid = session.prepared().grid();
    let seconds = if request.time > 0 {
        session.time(request.time)?
    } else {
        None
    };
    Ok(Outcome {
        kernel: kernel.name.clone(),
        device: device_name,
        grid,
        checks,
        seconds,
    })
}

/// Compares one result as a [`CheckSpec`] says.
pub fn check_one(got: &Array, name: &str, check: &CheckSpec, seed: u64) -> Result<Report> {
    let place = Place {
        name,
        file_type: FileType::AnyOr(got.dtype()),
        strides: None,
        seed,
    };
    let want = check.reference.array(&place)?;
    if let Some((tol, scale)) = &check.product {
        let scale = scale.array(&place)?;
        return compare(
            got,
            &want,
            &Measure::Product {
                tol: *tol,
                scale: &scale,
            },
        );
    }
    let own = Measure::default_for(got.dtype(), &want);
    let measure = match (own, check.rtol, check.atol) {
        (own, None, None) => own,
        (_, rtol, atol) => Measure::Elementwise {
            rtol: rtol.unwrap_or(0.0),
            atol: atol.unwrap_or(0.0),
        },
    };
    compare(got, &want, &measure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Recorded, Recorder, gemm_ptx};
    use std::collections::BTreeMap;

    /// Plays the kernel: C, whose address is the first parameter, becomes all ones.
    fn ones(memory: &mut BTreeMap<u64, Vec<u8>>, launch: &Recorded) {
        let address = u64::from_le_bytes(launch.params[0][..].try_into().unwrap());
        let c = memory.get_mut(&address).unwrap();
        c.chunks_exact_mut(2)
            .for_each(|cell| cell.copy_from_slice(&[0x80, 0x3f]));
    }

    fn request(c: &str, check: &str) -> Request {
        let args = ["A=randn:bf16[4,8]", "B=randn:bf16[8,2]", c, "alpha=i32:1"];
        Request {
            args: args.iter().map(|arg| arg.parse().unwrap()).collect(),
            checks: vec![check.parse().unwrap()],
            time: 3,
            ..Request::default()
        }
    }

    fn outcome(request: &Request) -> Result<Outcome> {
        let mut recorder = Recorder {
            kernel: Some(ones),
            ..Recorder::default()
        };
        run(&mut recorder, &Program::from_text(gemm_ptx()).unwrap(), None, request)
    }

    #[test]
    fn results_are_written_checked_and_timed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.npy");
        let mut request = request("C=poison:bf16[4,2]", "C=ones:f32[4,2],rtol=0");
        request.outs.push(Named {
            name: "C".into(),
            value: path.clone(),
        });
        let outcome = outcome(&request).unwrap();
        assert!(outcome.is_right());
        assert_eq!(
            outcome.to_string(),
            "gemm: ran on recorder, grid 2x1x1\n\
             right: C: all 8 elements are exact\n\
             time: 3 launches, median 1000.00 us, least 1000.00, most 1000.00\n"
        );
        let written = crate::array::read_npy(&path, FileType::AnyOr(girih_core::dtype::DType::Bf16)).unwrap();
        assert_eq!((written.shape(), written.to_f64()), (&[4, 2][..], vec![1.0; 8]));
    }

    #[test]
    fn a_wrong_result_is_an_outcome_and_not_an_error() {
        let outcome = outcome(&request("C=poison:bf16[4,2]", "C=full(2):f32[4,2]")).unwrap();
        assert!(!outcome.is_right());
        assert!(
            outcome
                .to_string()
                .contains("WRONG: C: 8 of 8 elements are wrong; worst at [0, 0]: got 1, want 2")
        );
        let json = serde_json::to_value(&outcome).unwrap();
        assert_eq!(
            (&json["checks"][0]["right"], &json["checks"][0]["wrong"]),
            (&false.into(), &8.into())
        );
    }

    #[test]
    fn a_judge_sees_all_arguments_before_and_after() {
        let program = Program::from_text(gemm_ptx()).unwrap();
        let mut recorder = Recorder {
            kernel: Some(ones),
            ..Recorder::default()
        };
        let request = Request {
            checks: vec![],
            ..request("C=full(3):bf16[4,2]", "C=ones:f32[4,2]")
        };
        let mut judge = |_: &Kernel, before: &[HostValue], after: &[HostValue]| {
            let (HostValue::Array(c0), HostValue::Array(c)) = (&before[2], &after[2]) else {
                panic!("C is an array")
            };
            assert_eq!((before[0] == after[0], c0.to_f64()[0], c.to_f64()[0]), (true, 3.0, 1.0));
            Ok(vec![Checked::new(
                "C",
                compare(c, c0, &Measure::Elementwise { rtol: 0.0, atol: 0.0 })?,
            )])
        };
        let outcome = run_and_judge(&mut recorder, &program, None, &request, Some(&mut judge)).unwrap();
        assert_eq!((outcome.is_right(), outcome.checks[0].report.wrong), (false, 8));
    }

    #[test]
    fn an_empty_grid_leaves_everything_as_it_was() {
        let outcome = outcome(&request("C=full(2):bf16[0,2]", "C=ones:f32[0,2]")).unwrap();
        assert!(
            outcome
                .to_string()
                .starts_with("gemm: the grid is empty (0x1x1), nothing was launched\n"),
            "{outcome}"
        );
        assert_eq!(outcome.seconds, None);
    }

    #[test]
    fn mistakes_on_the_command_line_are_named() {
        let error = |request: &Request| outcome(request).unwrap_err().to_string();
        assert_eq!(
            error(&request("C=zeros:bf16[4,2]", "D=ones:f32[4,2]")),
            "kernel `gemm` has no array argument `D` to read back"
        );
        assert_eq!(
            error(&request("C=zeros:f32[4,2]", "C=ones:f32[4,2]")),
            "kernel `gemm`, argument C: elements of type bf16 are expected, found f32"
        );
        assert_eq!(
            error(&request("C=bf16:3", "C=ones:f32[4,2]")),
            "kernel `gemm`, argument C: an array of bf16 is expected, found a number"
        );
        assert!(error(&request("C=zeros:bf16[4]", "C=ones:f32[4]")).contains("the array has rank 1"));
        assert_eq!(
            "x".parse::<Named<Spec>>().unwrap_err(),
            "expected NAME=VALUE, found `x`"
        );
        assert_eq!(
            "=x".parse::<Named<Spec>>().unwrap_err(),
            "expected NAME=VALUE, found `=x`"
        );
        assert!(
            "A=x"
                .parse::<Named<Spec>>()
                .unwrap_err()
                .contains("unknown generator `x`")
        );
        assert_eq!("cuda:1".parse(), Ok(DeviceChoice::Cuda(1)));
        assert_eq!(
            "cuda:x".parse::<DeviceChoice>().unwrap_err(),
            "unknown device `cuda:x`; expected auto, cuda, cuda:N or sim"
        );
    }
}
