//! Indices that are made by many ops: what is known of them is looked for in linear time, and not too deep.
use crate::support::{kernel, run};

/// `%d` is 2^64 times `%t`, by doubling; `%s` is a sum of 100,000 terms.
fn sums() -> String {
    let mut text = "%d0 = arith.addi %t, %t : index\n".to_owned();
    for i in 1..64 {
        text += &format!("%d{i} = arith.addi %d{0}, %d{0} : index\n", i - 1);
    }
    text += "%s0 = arith.addi %t, %t : index\n";
    for i in 1..100_000 {
        text += &format!("%s{i} = arith.addi %s{}, %t : index\n", i - 1);
    }
    text
}

#[test]
fn places_in_shared_memory() {
    let [auto, swizzled] = ["auto", "128"].map(|s| format!("memref<32x32xf32, #tile.shared<swizzle = {s}>>"));
    let body = format!(
        "%t = tile.thread_id\n{}tile.print \"{{}} {{}}\", %d63, %s99999 : index, index\n%m = tile.alloc : {auto}\n%n = tile.alloc : {swizzled}\n\
         %x = memref.load %m[%d63, %s99999] : {auto}\n\
         memref.store %x, %n[%s99999, %d63] : {swizzled}\n\
         %y = memref.load %n[%d63, %s99999] : {swizzled}\n\
         memref.store %y, %m[%d63, %s99999] : {auto}",
        sums()
    );
    let passes = "tile-swizzle-shared,tile-insert-sync,tile-allocate-shared,convert-tile-to-nvvm";
    let (text, said) = run(&kernel("sm_90a", &body), passes);
    assert!(text.is_some_and(|t| t.contains("llvm.store")), "{said:?}");
}

#[test]
fn columns_of_operands() {
    let rows = "memref<?x?xbf16, strided<[?, 1]>, #tile.global>";
    let source = format!(
        "module attributes {{tile.target = \"sm_90a\"}} {{\n\
         tile.kernel @k(%A: {rows}, %B: {rows}, %C: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {{\n\
         %c1 = arith.constant 1 : index\n\
         tile.grid %c1, %c1, %c1\n\
         }} body {{\n\
         %c0 = arith.constant 0 : index\n\
         %c64 = arith.constant 64 : index\n\
         %t = memref.dim %A, %c0 : {rows}\n\
         {}\
         %zero = arith.constant dense<0.0> : tensor<64x64xf32>\n\
         %sum = scf.for %k = %c0 to %t step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {{\n\
           %column = arith.addi %k, %d63 : index\n\
           %a = tile.load %A[%s99999, %column] : {rows} -> tensor<64x64xbf16>\n\
           %b = tile.load %B[%k, %s99999] : {rows} -> tensor<64x64xbf16>\n\
           %next = tile.mma %a, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>\n\
           scf.yield %next : tensor<64x64xf32>\n\
         }}\n\
         tile.store %sum, %C[%c0, %s99999] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>, #tile.global>\n\
         }}\n}}\n",
        sums()
    );
    let (text, said) = run(&source, "tile-plan-copies,tile-vectorize-accesses,tile-pipeline");
    assert!(text.is_some_and(|t| t.contains("tile.cp_async")), "{said:?}");
}
