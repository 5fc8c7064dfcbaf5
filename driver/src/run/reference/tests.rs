//! What references are held to, without a kernel: arrays as they would be before and after one.
use super::*;
use crate::registry;
use girih_core::manifest::Expr;
use girih_ir::module;
use pretty_assertions::assert_eq;

fn array(dtype: DType, shape: &[u64], values: &[f64]) -> HostValue {
    HostValue::Array(Array::from_f64(dtype, shape, values).expect("a small array"))
}

/// A kernel with array arguments of any shape and type; references never look at anything else.
fn kernel(names: &[&str]) -> Kernel {
    let arg = |name: &&str| Arg::Memref {
        name: (*name).to_owned(),
        dtype: DType::F32,
        shape: vec![],
        strides: vec![],
        align: 1,
    };
    Kernel {
        name: "k".into(),
        args: names.iter().map(arg).collect(),
        params: vec![],
        tensor_maps: vec![],
        grid: [1, 1, 1].map(Expr::Const),
        block: [1; 3],
        cluster: [1; 3],
        dynamic_shared_bytes: 0,
        facts: vec![],
    }
}

fn judge(
    source: &str,
    choice: Choice,
    names: &[&str],
    before: &[HostValue],
    after: &[HostValue],
) -> Result<Vec<Checked>> {
    let context = registry::context();
    let (parsed, said) = module::collect_diagnostics(&context, || module::parse(&context, source.as_bytes(), "t"));
    let parsed = parsed.unwrap_or_else(|_| panic!("{said:?}"));
    Reference::choose(parsed.as_operation(), &choice, Some("k"))?
        .expect("the source has a reference")
        .judge(&kernel(names), before, after)
}

const PRODUCT: &str = "
    func.func @k_ref(%a: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %b: memref<?x?xbf16, strided<[1, ?]>>,
                     %c: memref<?x?xf32>) attributes {girih.measure = \"product\", girih.tol = 1.0e-2} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32>)
      linalg.matmul ins(%a, %b : memref<?x?xbf16, strided<[?, 1]>, #tile.global>, memref<?x?xbf16, strided<[1, ?]>>)
                    outs(%c : memref<?x?xf32>)
      return
    }";

/// A = [1 -1; 2 2], B = [100; 100] column-major, C = poison.
fn operands(c: &[f64]) -> Vec<HostValue> {
    let b = Array::from_f64(DType::Bf16, &[2, 1], &[100.0, 100.0]).expect("an array");
    let b = b.with_layout(Layout::new(&[2, 1], &[1, 2], 0).expect("a layout"), 0);
    vec![
        array(DType::Bf16, &[2, 2], &[1.0, -1.0, 2.0, 2.0]),
        HostValue::Array(b.expect("an array")),
        array(DType::F32, &[2, 1], c),
    ]
}

#[test]
fn products_are_held_against_the_sum_of_absolute_products() {
    let judge = |c: &[f64]| {
        judge(
            PRODUCT,
            Choice::Default,
            &["A", "B", "C"],
            &operands(&[f64::NAN; 2]),
            &operands(c),
        )
        .expect("a verdict")
    };
    let checks = judge(&[1.9, 400.0]);
    assert_eq!(checks.len(), 1, "A and B have not changed");
    // The exact value 0 is a sum of 100 and -100, so 1.9 is within 1e-2 of 200.
    assert!(checks[0].right && checks[0].argument == "C", "{:?}", checks[0]);
    assert!(!judge(&[2.1, 400.0])[0].right);
    assert!(!judge(&[0.0, f64::NAN])[0].right);
}

#[test]
fn a_kernel_that_writes_to_its_inputs_is_found() {
    let mut after = operands(&[0.0, 400.0]);
    after[0] = array(DType::Bf16, &[2, 2], &[1.0, -1.0, 2.0, 2.5]);
    let checks = judge(PRODUCT, Choice::Default, &["A", "B", "C"], &operands(&[0.0; 2]), &after).expect("a verdict");
    let verdicts: Vec<_> = checks
        .iter()
        .map(|check| (check.argument.as_str(), check.right))
        .collect();
    assert_eq!(verdicts, [("A", false), ("C", true)]);
}

#[test]
fn results_stand_for_the_last_arrays() {
    let source = "
        func.func @twice(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
          %r = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
          return %r : tensor<?xf32>
        }";
    let value = |v: f64| array(DType::F32, &[3], &[v; 3]);
    let choice = || Choice::Named("twice".into());
    let right = judge(
        source,
        choice(),
        &["x", "y"],
        &[value(2.0), value(0.0)],
        &[value(2.0), value(4.0)],
    );
    assert!(
        right
            .expect("a verdict")
            .iter()
            .all(|check| check.right && check.argument == "y")
    );
    let wrong = judge(
        source,
        choice(),
        &["x", "y"],
        &[value(2.0), value(0.0)],
        &[value(2.0), value(0.0)],
    );
    assert!(!wrong.expect("a verdict")[0].right);
}

#[test]
fn what_cannot_be_a_reference_says_why() {
    let fail = |source: &str, name: &str, value: HostValue| {
        let choice = Choice::Named(name.into());
        let error = judge(
            source,
            choice,
            &["x"],
            std::slice::from_ref(&value),
            std::slice::from_ref(&value),
        );
        error.expect_err("a refusal").to_string()
    };
    let x = || array(DType::F32, &[3], &[0.0; 3]);
    let copy = "func.func @f(%x: memref<?xi32>) { return }";
    assert!(fail(copy, "g", x()).contains("no function `@g` in the file; functions found: `@f`"));
    assert!(fail(copy, "f", x()).contains("expected element type i32, found f32"));
    let product = "func.func @f(%x: memref<?x?xf32>) {
          linalg.matmul ins(%x, %x : memref<?x?xf32>, memref<?x?xf32>) outs(%x : memref<?x?xf32>)
          return }";
    let large = array(DType::F32, &[1300, 1300], &vec![0.0; 1300 * 1300]);
    let error = fail(product, "f", large);
    assert!(error.contains("about 2197000000 multiply-adds on the CPU"), "{error}");
}

#[test]
fn absolute_values_in_every_format() {
    for dtype in [
        DType::F64,
        DType::F32,
        DType::Bf16,
        DType::F16,
        DType::E4m3,
        DType::E5m2,
        DType::Tf32,
    ] {
        let HostValue::Array(found) = absolute(&array(dtype, &[3], &[-1.5, 2.0, -0.0])) else {
            panic!("an array stays one")
        };
        assert_eq!(found.to_f64(), [1.5, 2.0, 0.0], "{dtype}");
        assert!(found.to_f64()[2].is_sign_positive());
    }
    let integers = array(DType::I32, &[1], &[-3.0]);
    assert_eq!(absolute(&integers), integers);
}

#[test]
fn writes_into_padding_are_found() {
    let layout = Layout::new(&[2, 3], &[4, 1], 4).expect("a layout");
    let before = Array::filled(DType::I16, layout, 0xee).expect("memory");
    let mut after = before.clone();
    after.set_packed_bytes(&[0; 12]);
    assert!(check_gaps("C", &before, &after).is_ok());
    after.bytes_mut()[10] = 0;
    let error = check_gaps("C", &before, &after).unwrap_err().to_string();
    assert!(
        error.contains("argument C: the kernel wrote 1 bytes of padding"),
        "{error}"
    );
    assert!(error.contains("first at byte 10"), "{error}");
}
