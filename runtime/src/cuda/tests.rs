//! What holds with and without a GPU; `tests/gpu.rs` needs one.
use super::*;

/// On a machine without a driver, or without a current context, every entry says so, and nothing panics.
#[test]
fn a_missing_driver_is_an_error_in_words() {
    let Err(error) = CudaDevice::new(1 << 20) else {
        panic!("there are no 2^20 devices")
    };
    let known = [
        "no CUDA driver (libcuda.so.1)",
        "finds no usable GPU",
        "there is no CUDA device 1048576",
    ];
    assert!(known.iter().any(|text| error.message.contains(text)), "{error}");
    assert!(current_context().is_err());
}

#[test]
fn copies_stay_in_their_buffer() {
    let buffer = Buffer {
        address: 0x1000,
        bytes: 64,
    };
    assert_eq!(slice(buffer, 16, 48), Ok(0x1010));
    assert_eq!(
        slice(buffer, 17, 48).unwrap_err().message,
        "a copy of 48 bytes at 17 leaves a buffer of 64 bytes"
    );
    assert!(slice(buffer, usize::MAX, 2).is_err());
}
