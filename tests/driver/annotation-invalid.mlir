// RUN: girih-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected girih.measure to be "product" or "elementwise", found "ratio"}}
func.func @f() attributes {girih.measure = "ratio"} {
  return
}

// -----

// expected-error@+1 {{expected girih.tol to be a float of 0 or more, found -1.000000e+00}}
func.func @f() attributes {girih.tol = -1.0} {
  return
}

// -----

// expected-error@+1 {{unknown attribute girih.tolerance; the dialect has girih.measure and girih.tol}}
func.func @f() attributes {girih.tolerance = 1.0} {
  return
}

// -----

func.func @f() attributes {girih.measure = "product", girih.tol = 1.0e-2} {
  return
}
