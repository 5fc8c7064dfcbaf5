// Every op that breaks a rule is reported, with its line and a caret; editors and FileCheck read the first line of each.
// RUN: sh -c 'girih compile %s 2>&1; echo exit $?' | FileCheck %s
// RUN: sh -c 'girih compile %s --json -o %t 2>&1; echo exit $?' | FileCheck %s --check-prefix=JSON
// RUN: sh -c 'girih compile %S/Inputs/unknown-op.mlir 2>&1; echo exit $?' | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: Inputs/unknown-op.mlir:2:3: error: custom op 'tile.frobnicate' is unknown
// UNKNOWN-NEXT: {{^}}  2 |   tile.frobnicate %a
// UNKNOWN-NEXT: {{^}}    |   ^
// UNKNOWN-NEXT: exit 1

func.func @f(%a: i32, %b: f32) -> i32 {
  // CHECK: diagnostics.mlir:[[#@LINE+3]]:8: error: 'arith.addi' op
  // CHECK-NEXT: [[#@LINE+2]] |   %c = "arith.addi"(%a, %b)
  // CHECK-NEXT: {{^}}     |        ^
  %c = "arith.addi"(%a, %b) : (i32, f32) -> i32
  // CHECK: diagnostics.mlir:[[#@LINE+1]]:8: error: 'arith.addf' op
  %d = "arith.addf"(%b) : (f32) -> f32
  return %c : i32
}
// CHECK: exit 1

// JSON: {"diagnostics":[{"column":8,"file":"{{.*}}diagnostics.mlir","line":15,"message":"'arith.addi' op {{.*}}","severity":"error"},{{.*}}"line":17,{{.*}}],"error":{"column":8,"file":"{{.*}}diagnostics.mlir","kind":"program","line":15,"message":"{{.*}}"},"ok":false}
// JSON-NEXT: exit 1
