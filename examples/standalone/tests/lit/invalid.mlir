// RUN: standalone-opt %s --split-input-file --verify-diagnostics

func.func @coarser(%a: !length.of<mm>) {
  // expected-error@+1 {{'length.refine' op goes from mm to the coarser km and would lose digits; divide instead}}
  %0 = length.refine %a : !length.of<mm> -> !length.of<km>
  return
}

// -----

// expected-error@+1 {{expected a unit: one of mm, m, km; found `yd`}}
func.func private @unit(!length.of<yd>)
