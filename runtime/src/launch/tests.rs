//! Launches on a device that records what it is asked to do.
use super::*;
use crate::{
    Program,
    array::{Array, FileType},
    spec::{Place, Scalar, Spec},
    testing::{Recorder, gemm_manifest, gemm_ptx},
};
use girih_core::{
    dtype::DType,
    manifest::{Arg, Expr, MapForm},
    tensor_map::Swizzle,
};
use pretty_assertions::assert_eq;

fn memref(shape: &[u64], strides: &[u64]) -> Value {
    Value::Memref(Memref {
        dtype: DType::Bf16,
        address: 0x1000,
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    })
}

/// A: MxK, B: KxN, C: MxN, and alpha.
fn gemm(m: u64, n: u64, k: u64) -> Vec<Value> {
    let alpha = Value::Scalar(Scalar {
        dtype: DType::I32,
        bits: 0xffff_fffe,
    });
    vec![
        memref(&[m, k], &[k, 1]),
        memref(&[k, n], &[1, k]),
        memref(&[m, n], &[n, 1]),
        alpha,
    ]
}

fn edit(values: &mut [Value], arg: usize, change: impl FnOnce(&mut Memref)) {
    let Value::Memref(memref) = &mut values[arg] else {
        panic!("argument {arg} is no memref")
    };
    change(memref);
}

fn prepare(values: &[Value]) -> Result<Prepared> {
    let manifest = gemm_manifest();
    Prepared::new(&manifest.kernels[0], &manifest.target, values, &Recorder::default())
}

fn refusal(change: impl FnOnce(&mut Vec<Value>)) -> String {
    let mut values = gemm(512, 256, 128);
    change(&mut values);
    prepare(&values).unwrap_err().to_string()
}

fn refused_kernel(change: impl FnOnce(&mut Kernel)) -> String {
    let manifest = gemm_manifest();
    let mut kernel = manifest.kernels[0].clone();
    change(&mut kernel);
    Prepared::new(&kernel, &manifest.target, &gemm(512, 256, 128), &Recorder::default())
        .unwrap_err()
        .to_string()
}

#[test]
fn parameters_are_the_manifests_in_order() {
    let prepared = prepare(&gemm(512, 256, 128)).unwrap();
    let launch = prepared.as_launch();
    assert_eq!(
        (launch.kernel, launch.grid, launch.block, launch.cluster),
        ("gemm", [4, 2, 1], [288, 1, 1], [2, 1, 1])
    );
    assert_eq!(launch.dynamic_shared_bytes, 200 << 10);
    let number = |n: u64| n.to_le_bytes().to_vec();
    let expected = [
        number(0x1000),
        number(512),
        number(128),
        0xffff_fffeu32.to_le_bytes().to_vec(),
        vec![0xa5; 128],
        vec![0xa5; 128],
    ];
    assert_eq!(launch.params, &expected[..]);
}

#[test]
fn tensor_maps_get_the_values_of_their_arguments() {
    let manifest = gemm_manifest();
    let values = gemm(512, 256, 128);
    let plan = Plan::new(&manifest.kernels[0], &manifest.target, &values).unwrap();
    let maps: Vec<_> = plan
        .maps
        .iter()
        .flatten()
        .map(|m| (m.address, m.dims.clone(), m.strides.clone()))
        .collect();
    assert_eq!(
        maps,
        [(0x1000, vec![128, 512], vec![256]), (0x1000, vec![128, 256], vec![256])]
    );
}

/// The kernel with A's map as an argument of its own, which the caller makes.
fn with_map_argument() -> Kernel {
    let manifest = gemm_manifest();
    let mut kernel = manifest.kernels[0].clone();
    let template = kernel.tensor_maps[0].clone();
    kernel.args.push(Arg::TensorMap {
        name: "m".into(),
        dtype: DType::Bf16,
        form: MapForm {
            format: template.format,
            rank: 2,
            mode: template.mode,
            element_strides: template.element_strides,
            interleave: template.interleave,
            swizzle: template.swizzle,
            fill: template.fill,
            l2_promotion: template.l2_promotion,
        },
    });
    kernel.params.push(Param::Map { arg: 4 });
    kernel
}

#[test]
fn maps_of_the_caller_are_handed_over_as_they_are() {
    let (kernel, target) = (with_map_argument(), gemm_manifest().target);
    let launch = |map: Map| {
        let mut values = gemm(512, 256, 128);
        values.push(Value::Map(Box::new(map)));
        Prepared::new(&kernel, &target, &values, &Recorder::default()).map_err(|error| error.to_string())
    };
    let bytes: [u8; 128] = std::array::from_fn(|i| i as u8);
    let prepared = launch(Map::Bytes(bytes)).unwrap();
    assert_eq!(prepared.as_launch().params.last(), Some(&bytes.to_vec()));
    let Arg::TensorMap { form, .. } = &kernel.args[4] else {
        panic!("a map argument")
    };
    let map = form.map_of(0x1000, &[512, 128], &[128, 1]).unwrap();
    let prepared = launch(Map::Fields(map.clone())).unwrap();
    assert_eq!(
        prepared.as_launch().params.last(),
        Some(&vec![0xa5; 128]),
        "encoded by the device"
    );
    let empty = launch(Map::Fields(None)).unwrap();
    assert_eq!(empty.as_launch().params.last(), Some(&vec![0; 128]));
    let other = map.map(|map| TensorMap {
        swizzle: Swizzle::None,
        strides: vec![24],
        ..map
    });
    let text = launch(Map::Fields(other)).unwrap_err();
    assert!(
        text.contains("argument m: the tensor map has strides[0] = 24 bytes, but must be a multiple of 16")
            && text.contains("swizzle 128 is expected, found 2 dimensions")
            && text.contains("swizzle none"),
        "{text}"
    );
    let mut values = gemm(512, 256, 128);
    values.push(memref(&[512, 128], &[128, 1]));
    let text = Plan::new(&kernel, &target, &values).unwrap_err().to_string();
    assert_eq!(
        text,
        "kernel `gemm`, argument m: a tensor map is expected, found an array"
    );
}

#[test]
fn rows_that_are_stored_exactly_end_on_16_bytes() {
    let launched = |columns: u64, exact: bool| {
        let manifest = gemm_manifest();
        let mut kernel = manifest.kernels[0].clone();
        kernel.tensor_maps[0].exact_rows = exact;
        let mut values = gemm(512, 256, 128);
        edit(&mut values, 0, |a| a.shape[1] = columns);
        Plan::new(&kernel, &manifest.target, &values)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(
        launched(123, true),
        Err(
            "kernel `gemm`, argument A: rows of 123 elements are 246 bytes, but the kernel stores them with a tensor map, \
             which writes up to a multiple of 16: 10 bytes after each row would be overwritten; make rows 128 elements \
             long, or let the store say `overwrite`"
                .to_owned()
        )
    );
    assert_eq!(launched(120, true), Ok(()));
    assert_eq!(launched(123, false), Ok(()));
}

#[test]
fn rows_that_a_tensor_map_cannot_take_give_no_map_where_it_is_optional() {
    let manifest = gemm_manifest();
    let mut kernel = manifest.kernels[0].clone();
    for map in &mut kernel.tensor_maps {
        map.optional = true;
    }
    let maps = |values: &[Value]| {
        let plan = Plan::new(&kernel, &manifest.target, values).map_err(|e| e.to_string())?;
        Ok::<_, String>(plan.maps.iter().map(Option::is_some).collect::<Vec<_>>())
    };
    assert_eq!(maps(&gemm(512, 256, 128)), Ok(vec![true, true]));
    assert_eq!(maps(&gemm(512, 256, 129)), Ok(vec![false, false]));
    // What no alignment is to blame for is refused all the same.
    kernel.tensor_maps[0].element_strides[0] = 9;
    let refused = Plan::new(&kernel, &manifest.target, &gemm(512, 256, 129)).map(|_| ());
    assert!(refused.is_err_and(|e| e.to_string().contains("9")));
}

#[test]
fn rows_that_a_tensor_map_cannot_take_are_refused_with_rule_value_and_remedy() {
    let text = prepare(&gemm(512, 256, 513)).unwrap_err().to_string();
    assert_eq!(
        text,
        "kernel `gemm`, argument A: row stride = 1026 bytes, but a tensor map needs a multiple of 16; pad it to a \
         multiple of 8 elements\n\
         kernel `gemm`, argument B: stride of dimension 1 = 1026 bytes, but a tensor map needs a multiple of 16; pad it \
         to a multiple of 8 elements"
    );
    assert!(
        refusal(|v| edit(v, 0, |a| a.address = 0x1008))
            .starts_with("kernel `gemm`, argument A: address = 0x1008, but the kernel needs a multiple of 16")
    );
    assert!(
        refusal(|v| edit(v, 1, |b| b.address = 0x1008)).starts_with(
            "kernel `gemm`, argument B: its tensor map has address = 0x1008, but must be a multiple of 16"
        )
    );
}

#[test]
fn an_empty_dimension_gets_a_zero_map_and_an_empty_grid_launches_nothing() {
    let prepared = prepare(&gemm(512, 256, 0)).unwrap();
    assert_eq!(prepared.as_launch().params[4..], [vec![0; 128], vec![0; 128]]);
    assert!(!prepared.is_empty());

    let empty = prepare(&gemm(0, 256, 128)).unwrap();
    let mut recorder = Recorder::default();
    let module = recorder.load("").unwrap();
    empty.launch(&mut recorder, module).unwrap();
    assert!(empty.is_empty() && recorder.launches.is_empty());
    assert_eq!(empty.time(&mut recorder, module, 3).unwrap(), None);
}

#[test]
fn every_rule_of_an_argument_has_its_message() {
    let expect = |change: fn(&mut Vec<Value>), text: &str| {
        assert_eq!(refusal(change), format!("kernel `gemm`{text}"));
    };
    expect(
        |v| v.truncate(1),
        ": takes 4 arguments (A, B, C, alpha), but 1 are given",
    );
    expect(
        |v| edit(v, 0, |a| a.dtype = DType::F16),
        ", argument A: elements of type bf16 are expected, found f16",
    );
    expect(|v| v.swap(0, 3), {
        ", argument A: an array of bf16 is expected, found a number\n\
         kernel `gemm`, argument alpha: a number of type i32 is expected, found an array"
    });
    expect(
        |v| {
            v[3] = Value::Scalar(Scalar {
                dtype: DType::I64,
                bits: 1,
            })
        },
        ", argument alpha: a number of type i32 is expected, found i64",
    );
    expect(
        |v| v[0] = memref(&[512], &[1]),
        ", argument A: rank 2 is expected, found rank 1 (shape [512])",
    );
    expect(
        |v| v[0] = memref(&[512, 128], &[1, 512]),
        ", argument A: stride of dimension 1 = 512 elements, but the kernel was compiled for 1; copy the array to that layout",
    );
    expect(
        |v| v[0] = memref(&[1 << 40, 128], &[1 << 40, 1]),
        ", argument A: shape [1099511627776, 128] with strides [1099511627776, 1] at 0x1000 reaches past the 64-bit address space",
    );
    expect(
        |v| edit(v, 0, |a| a.address = u64::MAX - 15),
        ", argument A: shape [512, 128] with strides [128, 1] at 0xfffffffffffffff0 reaches past the 64-bit address space",
    );
    expect(
        |v| edit(v, 2, |c| c.address = 0),
        ", argument C: the address is null, but shape [512, 256] has elements",
    );
}

#[test]
fn static_sizes_are_compared_and_strides_of_single_elements_are_not() {
    let manifest = gemm_manifest();
    let mut kernel = manifest.kernels[0].clone();
    let Arg::Memref { shape, .. } = &mut kernel.args[2] else {
        panic!("C is a memref")
    };
    *shape = vec![Some(512), None];
    let new = |values: &[Value]| Prepared::new(&kernel, &manifest.target, values, &Recorder::default());
    assert!(new(&gemm(512, 256, 128)).is_ok());
    assert_eq!(
        new(&gemm(511, 256, 128)).unwrap_err().to_string(),
        "kernel `gemm`, argument C: size of dimension 0 = 511, but the kernel was compiled for 512"
    );
    let mut single = gemm(512, 1, 128);
    edit(&mut single, 2, |c| c.strides = vec![1, 77]);
    assert!(new(&single).is_ok());
}

#[test]
fn launches_that_no_device_takes_are_refused() {
    let expect =
        |change: fn(&mut Kernel), text: &str| assert_eq!(refused_kernel(change), format!("kernel `gemm`: {text}"));
    expect(
        |k| k.block = [2048, 1, 1],
        "block x = 2048 threads, but 1 to 1024 are allowed",
    );
    expect(
        |k| k.block = [64, 64, 1],
        "a block has 4096 threads, but at most 1024 are allowed",
    );
    expect(
        |k| k.cluster = [32, 1, 1],
        "a cluster has 32 blocks, but 1 to 16 are allowed",
    );
    expect(
        |k| k.dynamic_shared_bytes = 300_000,
        "dynamic shared memory = 300000 bytes, but a block on sm_90a has at most 232448; use fewer stages or smaller tiles",
    );
    expect(
        |k| k.grid[0] = Expr::Const(-1),
        "grid x = -1 blocks, but 0 to 2147483647 are allowed",
    );
    expect(
        |k| k.grid[1] = Expr::Const(65536),
        "grid y = 65536 blocks, but 0 to 65535 are allowed",
    );
    expect(
        |k| k.grid[0] = Expr::Const(5),
        "grid x = 5 blocks, but the cluster needs a multiple of 2; round the grid up in the launch region",
    );
    let zero = refused_kernel(|k| {
        let size = Expr::Size { arg: 0, dim: 0 };
        k.grid[0] = Expr::Binary(
            girih_core::manifest::BinaryOp::DivS,
            Box::new(size),
            Box::new(Expr::Const(0)),
        );
    });
    assert!(
        zero.starts_with("kernel `gemm`: grid x: cannot compute") && zero.contains("A.size[0]"),
        "{zero}"
    );
}

#[test]
fn names_are_bound_to_arguments_and_every_mistake_is_reported() {
    let manifest = gemm_manifest();
    let named = |names: &[&str]| names.iter().map(|n| ((*n).to_owned(), *n == "B")).collect::<Vec<_>>();
    let kernel = &manifest.kernels[0];
    assert_eq!(
        bind(kernel, named(&["B", "alpha", "A", "C"])).unwrap(),
        [false, true, false, false]
    );
    assert_eq!(
        bind(kernel, named(&["A", "A", "D"])).unwrap_err().to_string(),
        "kernel `gemm`, argument A: it is given twice; leave one --arg out\n\
         kernel `gemm`, argument D: the kernel has no such argument; it has A, B, C, alpha\n\
         kernel `gemm`, argument B: it is missing; give --arg B=SPEC\n\
         kernel `gemm`, argument C: it is missing; give --arg C=SPEC\n\
         kernel `gemm`, argument alpha: it is missing; give --arg alpha=SPEC"
    );
}

fn host_values(specs: [&str; 4]) -> Vec<HostValue> {
    let manifest = gemm_manifest();
    let convert = |(spec, arg): (&str, &Arg)| {
        let spec: Spec = spec.parse().unwrap();
        match (spec.scalar(), arg) {
            (Some(scalar), _) => HostValue::Scalar(scalar),
            (None, Arg::Memref { strides, .. }) => {
                let place = Place {
                    name: arg.name(),
                    file_type: FileType::Any,
                    strides: Some(strides),
                    seed: 0,
                };
                HostValue::Array(spec.array(&place).unwrap())
            }
            (None, Arg::Scalar { .. } | Arg::TensorMap { .. }) => panic!("`{spec}` is no number"),
        }
    };
    specs.into_iter().zip(&manifest.kernels[0].args).map(convert).collect()
}

#[test]
fn host_arrays_travel_to_the_device_and_back_and_leave_nothing_behind() {
    let program = Program::from_text(gemm_ptx()).unwrap();
    let kernel = program.kernel(None).unwrap();
    let values = host_values([
        "iota:bf16[4,8]",
        "ones:bf16[8,2;pitch=16,offset=16]",
        "poison:bf16[4,2]",
        "i32:7",
    ]);
    let mut recorder = Recorder::default();
    {
        let mut session = Session::new(&mut recorder, &program, kernel, &values).unwrap();
        session.run().unwrap();
        let mut a = Array::zeros(DType::Bf16, &[4, 8]).unwrap();
        session.read(0, &mut a).unwrap();
        assert_eq!(a.to_f64(), (0..32).map(f64::from).collect::<Vec<_>>());
        let mut wrong = Array::zeros(DType::Bf16, &[4, 9]).unwrap();
        assert_eq!(
            session.read(0, &mut wrong).unwrap_err().to_string(),
            "argument 0 has 64 bytes on the device, but the host array has 72"
        );
        assert_eq!(
            session.read(3, &mut a).unwrap_err().to_string(),
            "argument 3 is not an array"
        );
    }
    let launches = &recorder.launches;
    assert_eq!(launches.len(), 1);
    assert_eq!((launches[0].kernel.as_str(), launches[0].grid), ("gemm", [2, 1, 1]));
    assert_eq!(launches[0].params[3], 7u32.to_le_bytes());
    // B starts 16 bytes into its buffer.
    let maps = recorder.maps.borrow();
    assert_eq!((maps[1].address % 256, &maps[1].strides[..]), (16, &[32][..]));
    drop(maps);
    assert!(
        recorder.memory.is_empty() && recorder.modules == 0,
        "memory or modules leak"
    );
}

#[test]
fn what_is_wrong_is_found_before_anything_is_uploaded() {
    let program = Program::from_text(gemm_ptx()).unwrap();
    let kernel = program.kernel(None).unwrap();
    let mut recorder = Recorder::default();
    let values = host_values(["ones:bf16[4,9]", "ones:bf16[9,2]", "ones:bf16[4,2]", "i32:7"]);
    let text = Session::new(&mut recorder, &program, kernel, &values)
        .err()
        .unwrap()
        .to_string();
    assert!(text.contains("argument A: row stride = 18 bytes"), "{text}");
    let values = host_values(["ones:bf16[4,8;offset=8]", "ones:bf16[8,2]", "ones:bf16[4,2]", "i32:7"]);
    let text = Session::new(&mut recorder, &program, kernel, &values)
        .err()
        .unwrap()
        .to_string();
    assert!(text.contains("argument A: address = 0x100000008"), "{text}");
    assert_eq!(recorder.allocations, 0);

    recorder.fail_launch = true;
    let values = host_values(["ones:bf16[4,8]", "ones:bf16[8,2]", "ones:bf16[4,2]", "i32:7"]);
    let mut session = Session::new(&mut recorder, &program, kernel, &values).unwrap();
    assert_eq!(session.run().unwrap_err().to_string(), "the recorder refuses");
    drop(session);
    assert!(
        recorder.memory.is_empty() && recorder.modules == 0,
        "memory or modules leak after a failure"
    );
}

#[test]
fn programs_without_a_usable_manifest_are_refused() {
    let refused = |text: &str| Program::from_text(text).unwrap_err().to_string();
    assert_eq!(
        refused(".version 8.0\n"),
        "the PTX has no launch manifest in its leading comments; compile it with `girih compile`"
    );
    let ptx = gemm_ptx();
    let cut = &ptx[..ptx.find(".visible").unwrap()];
    assert_eq!(
        refused(cut),
        "the launch manifest lists the kernel `gemm`, but the PTX has no such .entry; the file is truncated or was edited, \
         compile it again"
    );
    assert!(refused(&ptx[..ptx.len() / 3]).contains("truncated"));
    assert!(refused(&ptx.replace(".entry gemm(", ".entry gemm2(")).contains("no such .entry"));
    let missing = Program::load(std::path::Path::new("/nonexistent.ptx"))
        .unwrap_err()
        .to_string();
    assert!(missing.starts_with("/nonexistent.ptx: cannot be read"), "{missing}");
}

#[test]
fn kernels_and_targets_are_chosen_by_name() {
    let program = Program::from_text(gemm_ptx()).unwrap();
    assert_eq!(program.kernel(Some("gemm")).unwrap().name, "gemm");
    assert_eq!(
        program.kernel(Some("gem")).unwrap_err().to_string(),
        "the file has no kernel `gem`; it has gemm"
    );
    assert_eq!(
        program.check_target("sm_100a").unwrap_err().to_string(),
        "the PTX is for sm_90a, but the device is sm_100a; compile with --target sm_100a"
    );
}
