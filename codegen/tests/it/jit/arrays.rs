//! Arrays in any layout and tensors, and what is computed with them.
use super::{bytes, compile, scalar, values};
use girih_codegen::jit::{Arg, Array, Returned};
use girih_core::dtype::DType;
use pretty_assertions::assert_eq;

#[test]
fn a_product_on_strided_memory_with_memory_spaces() {
    let source = "
      func.func @gemm_ref(%A: memref<?x?xbf16, strided<[?, 1]>, 1>, %B: memref<?x?xbf16, strided<[1, ?]>, 1>,
                          %C: memref<?x?xf32, strided<[?, ?], offset: ?>, 1>) {
        linalg.matmul ins(%A, %B : memref<?x?xbf16, strided<[?, 1]>, 1>, memref<?x?xbf16, strided<[1, ?]>, 1>)
                      outs(%C : memref<?x?xf32, strided<[?, ?], offset: ?>, 1>)
        return
      }";
    let function = compile(source, "gemm_ref").unwrap();
    let (m, n, k) = (3, 5, 4);
    let a = |i: usize, j: usize| (i * 7 + j * 3) as f64 % 11.0 - 5.0;
    let b = |i: usize, j: usize| (i * 5 + j * 2) as f64 % 13.0 - 6.0;
    // A row-major with a pitch of 6; B column-major; C backwards in both dimensions.
    let mut a_bytes = bytes(DType::Bf16, (0..m * 6).map(|at| a(at / 6, at % 6)));
    let mut b_bytes = bytes(DType::Bf16, (0..n * k).map(|at| b(at % k, at / k)));
    let mut c_bytes = bytes(DType::F32, (0..m * n).map(|_| 1.0));
    let mut args = [
        Arg::Array(Array::new(&mut a_bytes, DType::Bf16, 0, &[m, k], &[6, 1]).unwrap()),
        Arg::Array(Array::new(&mut b_bytes, DType::Bf16, 0, &[k, n], &[1, k as isize]).unwrap()),
        Arg::Array(Array::new(&mut c_bytes, DType::F32, m * n - 1, &[m, n], &[-(n as isize), -1]).unwrap()),
    ];
    function.call(&mut args).unwrap();
    let c = values(DType::F32, &c_bytes);
    for i in 0..m {
        for j in 0..n {
            let expected = 1.0 + (0..k).map(|l| a(i, l) * b(l, j)).sum::<f64>();
            assert_eq!(c[m * n - 1 - (i * n + j)], expected, "C[{i}, {j}]");
        }
    }
}

/// Products of f32 in every layout of A and B: each sum must run in the order of k, to the last bit.
#[test]
fn sums_run_in_order_whatever_the_layout() {
    let (m, n, k) = (13, 17, 19);
    let value = |at: usize| ((at * 2_654_435_761) % 1000) as f32 / 7.0 - 70.0;
    let a: Vec<f32> = (0..m * k).map(value).collect();
    let b: Vec<f32> = (0..k * n).map(|at| value(at + 5)).collect();
    let expected: Vec<f32> = (0..m * n)
        .map(|at| (0..k).fold(0.0, |sum, l| sum + a[at / n * k + l] * b[l * n + at % n]))
        .collect();
    for (a_type, a_strides) in [("[?, 1]", [k, 1]), ("[1, ?]", [1, m]), ("[?, ?]", [k, 1])] {
        for (b_type, b_strides) in [("[?, 1]", [n, 1]), ("[1, ?]", [1, k])] {
            let source = format!(
                "func.func @gemm(%a: memref<?x?xf32, strided<{a_type}>>, %b: memref<?x?xf32, strided<{b_type}>>,
                                 %c: memref<?x?xf32>) {{
                   linalg.matmul ins(%a, %b : memref<?x?xf32, strided<{a_type}>>, memref<?x?xf32, strided<{b_type}>>)
                                 outs(%c : memref<?x?xf32>)
                   return
                 }}"
            );
            let function = compile(&source, "gemm").unwrap();
            let lay = |values: &[f32], columns: usize, strides: [usize; 2]| {
                let mut bytes = vec![0u8; 4 * values.len()];
                for (at, value) in values.iter().enumerate() {
                    let place = at / columns * strides[0] + at % columns * strides[1];
                    bytes[4 * place..4 * place + 4].copy_from_slice(&value.to_le_bytes());
                }
                bytes
            };
            let (mut a_bytes, mut b_bytes) = (lay(&a, k, a_strides), lay(&b, n, b_strides));
            let mut c_bytes = vec![0u8; 4 * m * n];
            let signed = |strides: [usize; 2]| strides.map(|stride| stride as isize);
            let mut args = [
                Arg::Array(Array::new(&mut a_bytes, DType::F32, 0, &[m, k], &signed(a_strides)).unwrap()),
                Arg::Array(Array::new(&mut b_bytes, DType::F32, 0, &[k, n], &signed(b_strides)).unwrap()),
                Arg::Array(Array::row_major(&mut c_bytes, DType::F32, &[m, n]).unwrap()),
            ];
            function.call(&mut args).unwrap();
            let found: Vec<f32> = c_bytes
                .chunks(4)
                .map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                .collect();
            assert_eq!(found, expected, "A {a_type}, B {b_type}");
        }
    }
}

#[test]
fn bodies_may_ask_for_their_indices() {
    let source = "
      func.func @transposed_index(%x: memref<2x3xi64, strided<[1, 2]>>) {
        linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}
          outs(%x : memref<2x3xi64, strided<[1, 2]>>) {
        ^bb0(%old: i64):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %ten = arith.constant 10 : index
          %tens = arith.muli %i, %ten : index
          %sum = arith.addi %tens, %j : index
          %new = arith.index_cast %sum : index to i64
          linalg.yield %new : i64
        }
        return
      }";
    let mut x = vec![0u8; 48];
    let mut args = [Arg::Array(Array::new(&mut x, DType::I64, 0, &[2, 3], &[1, 2]).unwrap())];
    compile(source, "transposed_index").unwrap().call(&mut args).unwrap();
    assert_eq!(values(DType::I64, &x), [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
}

#[test]
fn tensors_come_back_and_arguments_are_not_written() {
    let source = "
      func.func private @double(%x: tensor<?x3xf8E4M3FN>) -> tensor<?x3xf8E4M3FN> {
        %r = linalg.add ins(%x, %x : tensor<?x3xf8E4M3FN>, tensor<?x3xf8E4M3FN>) outs(%x : tensor<?x3xf8E4M3FN>)
          -> tensor<?x3xf8E4M3FN>
        return %r : tensor<?x3xf8E4M3FN>
      }
      func.func @twice(%x: tensor<?x3xf8E4M3FN>, %scale: f32) -> (tensor<?x3xf8E4M3FN>, f32, tensor<?x3xf8E4M3FN>) {
        %r = call @double(%x) : (tensor<?x3xf8E4M3FN>) -> tensor<?x3xf8E4M3FN>
        %t = arith.addf %scale, %scale : f32
        return %r, %t, %x : tensor<?x3xf8E4M3FN>, f32, tensor<?x3xf8E4M3FN>
      }";
    let function = compile(source, "twice").unwrap();
    let input = bytes(DType::E4m3, (0..6).map(f64::from));
    let mut memory = input.clone();
    let mut args = [
        Arg::Array(Array::row_major(&mut memory, DType::E4m3, &[2, 3]).unwrap()),
        scalar(DType::F32, 0.75),
    ];
    let results = function.call(&mut args).unwrap();
    let doubled = bytes(DType::E4m3, (0..6).map(|value| f64::from(2 * value)));
    let array = |data| Returned::Array {
        dtype: DType::E4m3,
        shape: vec![2, 3],
        data,
    };
    assert_eq!(
        results,
        [
            array(doubled),
            Returned::Scalar(DType::F32, u64::from(1.5f32.to_bits())),
            array(input.clone())
        ]
    );
    assert_eq!(memory, input);
}

#[test]
fn copies_between_layouts_and_mathematics() {
    let source = "
      func.func @f(%x: memref<2x3xf32, strided<[3, 1]>>, %y: memref<2x3xf32, strided<[1, 2]>>) {
        memref.copy %x, %y : memref<2x3xf32, strided<[3, 1]>> to memref<2x3xf32, strided<[1, 2]>>
        linalg.exp ins(%x : memref<2x3xf32, strided<[3, 1]>>) outs(%x : memref<2x3xf32, strided<[3, 1]>>)
        linalg.tanh ins(%y : memref<2x3xf32, strided<[1, 2]>>) outs(%y : memref<2x3xf32, strided<[1, 2]>>)
        return
      }";
    let mut x = bytes(DType::F32, (0..6).map(f64::from));
    let mut y = bytes(DType::F32, [0.0; 6]);
    let mut args = [
        Arg::Array(Array::row_major(&mut x, DType::F32, &[2, 3]).unwrap()),
        Arg::Array(Array::new(&mut y, DType::F32, 0, &[2, 3], &[1, 2]).unwrap()),
    ];
    compile(source, "f").unwrap().call(&mut args).unwrap();
    let close = |found: f64, expected: f64| assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found}");
    for (at, found) in values(DType::F32, &x).into_iter().enumerate() {
        close(found, (at as f64).exp());
    }
    for (at, found) in values(DType::F32, &y).into_iter().enumerate() {
        close(found, ((at % 2 * 3 + at / 2) as f64).tanh());
    }
}

#[test]
fn buffers_that_the_program_frees_itself() {
    let source = "
      func.func @f(%x: memref<?xf32>) {
        %c0 = arith.constant 0 : index
        %n = memref.dim %x, %c0 : memref<?xf32>
        %t = memref.alloc(%n) : memref<?xf32>
        linalg.add ins(%x, %x : memref<?xf32>, memref<?xf32>) outs(%t : memref<?xf32>)
        linalg.mul ins(%t, %t : memref<?xf32>, memref<?xf32>) outs(%x : memref<?xf32>)
        memref.dealloc %t : memref<?xf32>
        return
      }";
    let mut x = bytes(DType::F32, (0..100).map(f64::from));
    let mut args = [Arg::Array(Array::row_major(&mut x, DType::F32, &[100]).unwrap())];
    compile(source, "f").unwrap().call(&mut args).unwrap();
    let expected: Vec<_> = (0..100).map(|value| f64::from(4 * value * value)).collect();
    assert_eq!(values(DType::F32, &x), expected);
}

#[test]
fn parallel_loops_over_tensors() {
    let source = "
      func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
        %e = tensor.empty() : tensor<4x8xf32>
        %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> tensor<4x8xf32> {
          %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
          %into = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
          %y = linalg.add ins(%row, %row : tensor<1x8xf32>, tensor<1x8xf32>) outs(%into : tensor<1x8xf32>)
            -> tensor<1x8xf32>
          scf.forall.in_parallel {
            tensor.parallel_insert_slice %y into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
          }
        }
        return %r : tensor<4x8xf32>
      }";
    let mut x = bytes(DType::F32, (0..32).map(f64::from));
    let mut args = [Arg::Array(Array::row_major(&mut x, DType::F32, &[4, 8]).unwrap())];
    let results = compile(source, "f").unwrap().call(&mut args).unwrap();
    let data = bytes(DType::F32, (0..32).map(|value| f64::from(2 * value)));
    assert_eq!(
        results,
        [Returned::Array {
            dtype: DType::F32,
            shape: vec![4, 8],
            data
        }]
    );
}
