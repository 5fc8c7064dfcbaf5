//! The C interface called as C calls it, on a machine without a GPU.
use super::*;
use crate::{
    launch::{Map, Value},
    testing::gemm_ptx,
};
use girih_core::dtype::DType;
use pretty_assertions::assert_eq;

fn last_error() -> String {
    // SAFETY: the text lives until the thread's next call.
    unsafe { CStr::from_ptr(girih_last_error()) }
        .to_str()
        .unwrap()
        .to_owned()
}

fn program() -> *mut girih_program {
    let ptx = gemm_ptx();
    let mut program = std::ptr::null_mut();
    // SAFETY: text and length fit, the place is writable.
    let status = unsafe { girih_program_from_text(ptx.as_ptr().cast(), ptx.len(), &mut program) };
    assert_eq!(status, Status::Ok, "{}", last_error());
    program
}

/// Shapes and strides of A, B, C for `m`, `n`, `k`.
fn lists(m: i64, n: i64, k: i64) -> [[[i64; 2]; 2]; 3] {
    [[[m, k], [k, 1]], [[k, n], [1, k]], [[m, n], [n, 1]]]
}

fn values(lists: &[[[i64; 2]; 2]; 3]) -> Vec<girih_value> {
    let memref = |[shape, strides]: &[[i64; 2]; 2]| girih_value {
        kind: 0,
        dtype: types::dtype_code(DType::Bf16),
        data: 0x1000,
        rank: 2,
        reserved: 0,
        shape: shape.as_ptr(),
        strides: strides.as_ptr(),
    };
    let alpha = girih_value {
        kind: 1,
        dtype: 3,
        data: 7,
        rank: 0,
        reserved: 0,
        shape: std::ptr::null(),
        strides: std::ptr::null(),
    };
    lists.iter().map(memref).chain([alpha]).collect()
}

#[test]
fn programs_describe_themselves() {
    let program = program();
    // SAFETY: a live program and places that live.
    unsafe {
        assert_eq!(girih_kernel_count(program), 1);
        assert_eq!(CStr::from_ptr(girih_kernel_name(program, 0)), c"gemm");
        assert!(girih_kernel_name(program, 1).is_null());
        assert_eq!((girih_arg_count(program, 0), girih_arg_count(program, 1)), (4, 0));
        let mut index = 9;
        assert_eq!(girih_kernel_find(program, std::ptr::null(), &mut index), Status::Ok);
        assert_eq!(index, 0);
        assert_eq!(
            girih_kernel_find(program, c"gem".as_ptr(), &mut index),
            Status::InvalidCall
        );
        assert_eq!(last_error(), "the file has no kernel `gem`; it has gemm");
        let mut info = std::mem::zeroed::<girih_arg_info>();
        assert_eq!(girih_arg_info_get(program, 0, 1, &mut info), Status::Ok);
        assert_eq!(
            (CStr::from_ptr(info.name), info.kind, info.dtype, info.rank),
            (c"B", 0, 6, 2)
        );
        assert_eq!(
            (info.strides[..2].to_vec(), info.shape[0], info.alignment),
            (vec![1, i64::MIN], i64::MIN, 2)
        );
        assert_eq!(girih_arg_info_get(program, 0, 4, &mut info), Status::InvalidCall);
        assert_eq!(last_error(), "argument 4 is asked for, but the kernel has 4");
        girih_program_free(program);
    }
}

#[test]
fn arguments_are_checked_before_the_device_is_asked() {
    let program = program();
    let good = lists(512, 256, 128);
    // SAFETY: a live program; lists as long as the ranks; nothing is launched.
    unsafe {
        let check = |values: &[girih_value]| girih_check(program, 0, values.as_ptr(), values.len());
        assert_eq!(check(&values(&good)), Status::Ok, "{}", last_error());
        let odd = lists(512, 256, 513);
        let odd = values(&odd);
        assert_eq!(
            girih_launch(program, 0, odd.as_ptr(), odd.len(), std::ptr::null_mut()),
            Status::InvalidArgument
        );
        assert!(
            last_error().starts_with("kernel `gemm`, argument A: row stride = 1026 bytes"),
            "{}",
            last_error()
        );

        let changed = |change: fn(&mut girih_value)| {
            let mut list = values(&good);
            change(&mut list[0]);
            (check(&list), last_error())
        };
        let invalid = |text: &str| (Status::InvalidCall, text.to_owned());
        assert_eq!(changed(|a| a.dtype = 12), invalid("value 0: 12 is no girih_dtype"));
        assert_eq!(changed(|a| a.kind = 3), invalid("value 0: 3 is no girih_kind"));
        assert_eq!(
            changed(|a| a.rank = -1),
            invalid("value 0: rank = -1, but 0 to 8 are allowed")
        );
        assert_eq!(
            changed(|a| a.shape = std::ptr::null()),
            invalid("value 0: the list of sizes or of strides is null")
        );
        let negative = [[[-1, 8], [8, 1]], good[1], good[2]];
        assert_eq!(check(&values(&negative)), Status::InvalidCall);
        assert_eq!(last_error(), "value 0: a size = -1 is negative");
        girih_program_free(program);
    }
}

#[test]
fn null_and_nonsense_are_refused() {
    let mut program = std::ptr::null_mut();
    // SAFETY: null is allowed everywhere here.
    unsafe {
        assert_eq!(
            girih_program_from_text(std::ptr::null(), 0, &mut program),
            Status::InvalidCall
        );
        assert_eq!(
            girih_program_from_text(c"".as_ptr(), 0, &mut program),
            Status::InvalidProgram
        );
        assert!(last_error().starts_with("the PTX has no launch manifest"));
        assert_eq!(
            girih_program_from_file(c"/nonexistent.ptx".as_ptr(), &mut program),
            Status::InvalidProgram
        );
        assert_eq!(
            girih_launch(std::ptr::null_mut(), 0, std::ptr::null(), 0, std::ptr::null_mut()),
            Status::InvalidCall
        );
        assert_eq!(last_error(), "the program is null");
        assert_eq!(
            (
                girih_kernel_count(std::ptr::null()),
                girih_arg_count(std::ptr::null(), 0)
            ),
            (0, 0)
        );
        girih_program_free(std::ptr::null_mut());
    }
}

/// The header is the contract; these are the numbers that C sees.
#[test]
fn the_header_and_the_library_have_the_same_numbers() {
    let header = include_str!("../../include/girih_runtime.h");
    for dtype in DType::ALL {
        let line = format!("GIRIH_{} = {}", dtype.name().to_uppercase(), types::dtype_code(dtype));
        let found = header.lines().any(|l| {
            l.trim()
                .strip_prefix(&line)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        });
        assert!(found, "{line}");
    }
    for line in [
        format!("#define GIRIH_ABI_VERSION {}", types::ABI_VERSION),
        format!("#define GIRIH_MAX_RANK {}", types::MAX_RANK),
        format!("GIRIH_INVALID_CALL = {}", Status::InvalidCall as i32),
        format!("GIRIH_INVALID_PROGRAM = {}", Status::InvalidProgram as i32),
        format!("GIRIH_INVALID_ARGUMENT = {}", Status::InvalidArgument as i32),
        format!("GIRIH_DEVICE_ERROR = {}", Status::DeviceError as i32),
        format!("GIRIH_INTERNAL_ERROR = {}", Status::InternalError as i32),
    ] {
        assert!(header.contains(&line), "{line}");
    }
    let functions = include_str!("mod.rs").split("extern \"C\" fn ").skip(1);
    for name in functions.filter_map(|rest| rest.split('(').next()) {
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
}

#[test]
fn a_tensor_map_is_its_128_bytes_wherever_they_lie() {
    let bytes: [u8; 128] = std::array::from_fn(|i| i as u8);
    let value = |data: u64| girih_value {
        kind: 2,
        dtype: -1,
        data,
        rank: -1,
        reserved: 0,
        shape: std::ptr::null(),
        strides: std::ptr::null(),
    };
    // SAFETY: the bytes live, and null is allowed.
    unsafe {
        let decoded = types::decode(&[value(bytes.as_ptr() as u64)]).expect("a map");
        assert_eq!(decoded, [Value::Map(Box::new(Map::Bytes(bytes)))]);
        let null = [value(0)];
        assert_eq!(guard(|| types::decode(&null).map(drop)), Status::InvalidCall);
        assert_eq!(last_error(), "value 0: the address of the tensor map is null");
    }
}
