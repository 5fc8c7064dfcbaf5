//! Every op, type and attribute documents itself with examples; here they are read, verified, printed in all forms and
//! read back.
use crate::support::{context, generic, in_kernel, in_module, read_valid};
use girih_dialects::tile::{TILE, op_definitions};
use girih_ir::{op::Presence, param::ParamRegistration, prelude::*};
use pretty_assertions::assert_eq;

/// The example where it can stand: kernels in a module, all else in a kernel's body.
pub fn wrapped(example: &str) -> String {
    match example.trim_start() {
        top if top.starts_with("tile.kernel") || top.starts_with("tile.entry") => in_module(example),
        _ => in_kernel(example),
    }
}

/// Custom form, generic form and bytecode all read back as the same module.
fn round_trips(source: &str) -> Vec<String> {
    let c = context();
    let module = read_valid(&c, source.as_bytes());
    let printed = module.as_operation().to_string();
    let again = |form: &[u8]| read_valid(&c, form).as_operation().to_string();
    assert_eq!(again(printed.as_bytes()), printed, "custom form of\n{source}");
    let in_full = generic(&module);
    assert_eq!(again(in_full.as_bytes()), printed, "generic form of\n{source}");
    assert_eq!(generic(&read_valid(&c, in_full.as_bytes())), in_full);
    let bytecode = module.as_operation().write_bytecode();
    assert_eq!(again(&bytecode), printed, "bytecode of\n{source}");
    let ops = module.as_operation().nested_ops();
    ops.iter().map(|op| op.full_name().to_owned()).collect()
}

#[test]
fn every_op_has_examples_that_round_trip() {
    for def in op_definitions() {
        let examples = def.examples();
        assert!(!examples.is_empty(), "'{}' has no example", def.name);
        for example in examples {
            let ops = round_trips(&wrapped(&example));
            assert!(ops.iter().any(|op| op == def.name), "no '{}' in\n{example}", def.name);
        }
    }
}

/// The examples of a type or attribute: one type a line.
fn parameter_examples(registration: &ParamRegistration) -> Vec<String> {
    girih_ir::reference::examples(registration.doc)
        .iter()
        .flat_map(|e| e.lines())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_type_and_attribute_has_examples_of_all_parameters_that_round_trip() {
    let types = TILE.types.iter().map(|t| (t, format!("!tile.{}", t.name)));
    let attributes = TILE.attributes.iter().map(|a| (a, format!("#tile.{}", a.name)));
    for (registration, name) in types.chain(attributes) {
        let examples = parameter_examples(registration);
        assert!(examples.iter().any(|e| e.contains(&name)), "'{name}' has no example");
        for field in registration.fields {
            if !matches!(field.presence, Presence::Required) {
                let setting = format!("{} = ", field.name);
                assert!(
                    examples.iter().any(|e| e.contains(&setting)),
                    "no example of '{name}' sets {}",
                    field.name
                );
            }
        }
        for example in examples {
            // What is written in an example is what is printed: no parameter is lost, none at its default.
            let source = in_module(&format!("func.func private @example({example})"));
            round_trips(&source);
            let c = context();
            let printed = read_valid(&c, source.as_bytes()).as_operation().to_string();
            assert!(
                printed.contains(&format!("@example({example})")),
                "{example}\nis printed as\n{printed}"
            );
        }
    }
}

#[test]
fn every_spelling_of_a_parameter_round_trips() {
    use girih_dialects::tile::{
        layouts::Fragment,
        spaces::{Atom, Swizzle, swizzle_mode},
        types::*,
    };
    let mut types = vec![];
    for swizzle in Swizzle::ALL {
        for atom in Atom::ALL {
            if let Some(mode) = swizzle_mode(*swizzle, *atom) {
                let columns = mode.span_bytes().unwrap_or(64) / 2;
                types.push(format!(
                    "memref<16x{columns}xbf16, #tile.shared<swizzle = {swizzle}, atom = {atom}, align = 2048>>"
                ));
            }
        }
    }
    types.extend(
        Interleave::ALL
            .iter()
            .map(|i| format!("!tile.tensor_map<2x8x8x16xi8, interleave = {i}>")),
    );
    types.extend(
        Fill::ALL
            .iter()
            .map(|f| format!("!tile.tensor_map<8x8xbf16, fill = {f}>")),
    );
    types.extend(
        L2Promotion::ALL
            .iter()
            .map(|l| format!("!tile.tensor_map<8x8xbf16, l2 = {l}>")),
    );
    for format in FormatOverride::ALL {
        let element = match format {
            FormatOverride::Unsigned => "i32",
            FormatOverride::B4x16P64 => "f4E2M1FN",
            _ => "f32",
        };
        types.push(format!("!tile.tensor_map<8x128x{element}, format = {format}>"));
    }
    for mode in MapMode::ALL {
        let fields = match mode {
            MapMode::Tile => "",
            MapMode::Im2col => ", lower = [0, -1, 1], upper = [0, 1, -1]",
            MapMode::Im2colW | MapMode::Im2colW128 => ", rank = 5, lower = [-1], upper = [1]",
        };
        types.push(format!(
            "!tile.tensor_map<128x32xf32, swizzle = 128, mode = {mode}{fields}>"
        ));
    }
    types.extend(
        Fragment::ALL
            .iter()
            .map(|f| format!("tensor<64x64xf16, #tile.layout<{f}>>")),
    );
    for t in types {
        round_trips(&in_module(&format!("func.func private @example({t})")));
    }
}
