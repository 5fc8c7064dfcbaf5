//! Faults that end a launch: what is said of them, and what to do.
mod common;

use common::{Setting, has_all as all, launch};
use girih_sim::check::Finding;

const HEAD: &str =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 s[4096]; .shared .align 8 .b64 bar[2];\n";

/// The error of a kernel `k` of one block of 32 threads, with a pointer to 256 bytes and a number, and what the checks say.
fn run(text: &str) -> (Option<String>, Vec<Finding>) {
    let outcome = launch(
        &format!("{HEAD}{text}"),
        &Setting {
            limit: None,
            checks: true,
            memory: &[1; 256],
            params: &[7u32.to_le_bytes().to_vec()],
            grid: 1,
            threads: 32,
        },
    );
    (outcome.error.map(|error| error.message), outcome.findings)
}

/// The same of a body.
fn run_body(body: &str) -> (Option<String>, Vec<Finding>) {
    run(&format!(
        ".visible .entry k(.param .u64 p, .param .u32 n) {{\n.reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p<4>;\n{body}\nret;\n}}\n"
    ))
}

#[test]
fn a_recursion_without_an_end_overflows_the_stack() {
    let call = |inside: &str| {
        format!(
            ".func f(.reg .b32 %a) {{ {inside} call.uni f, (%a); ret; }}\n\
             .visible .entry k(.param .u64 p, .param .u32 n) {{ .reg .b32 %r; ld.param.u32 %r, [n]; call.uni f, (%r); ret; }}\n"
        )
    };
    let (error, findings) = run(&call(".local .b8 l[1000];"));
    let text = error.expect("an error");
    all(
        &text,
        &[
            "CUDA_ERROR_ILLEGAL_ADDRESS: stack overflow: `f` is called at a depth of ",
            " calls, ",
            " of them of `f` itself: the recursion may have no end; the stack needs ",
            " bytes then, a thread has 524288",
            "at PTX line 5: .func f",
        ],
    );
    assert_eq!(findings[0].kind.to_string(), "stack overflow");
    all(&findings[0].remedy, &["give the recursion an end"]);
    let (error, _) = run(&call(""));
    all(
        &error.expect("an error"),
        &[
            "a depth of 20001 calls, 20000 of them of `f` itself",
            "a return address for each",
        ],
    );
}

#[test]
fn every_fault_has_a_remedy_of_its_own() {
    let cases = [
        ("trap;", "look at the condition that leads to this line"),
        ("bar.sync 16;", "name a barrier from 0 to 15"),
        ("bar.sync 0, 33;", "count whole warps"),
        (
            "mbarrier.arrive.shared.b64 %d1, [bar];",
            "initialise it once with mbarrier.init",
        ),
        (
            "mbarrier.init.shared.b64 [bar], 0;",
            "give mbarrier.init the number of arrivals",
        ),
        ("ld.global.u32 %r1, [4];", "keep the address inside the allocation"),
        ("ld.shared.u32 %r1, [s+2];", "align the address"),
        (
            "mov.u64 %d1, 64; { .reg .b32 x; P: .callprototype _ (); call %d1, (), P; }",
            "call a function, of this module",
        ),
    ];
    for (body, remedy) in cases {
        let (error, findings) = run_body(body);
        assert!(error.is_some(), "{body}");
        let found = findings.iter().any(|f| f.remedy.contains(remedy));
        assert!(found, "{body}: {findings:#?}");
    }
}

#[test]
fn a_name_is_defined_once() {
    let one = ".visible .entry k(.param .u64 p, .param .u32 n) { ret; }\n";
    let (error, _) = run(&format!("{one}.visible .entry l() {{ ret; }}\n{one}"));
    all(
        &error.expect("an error"),
        &[
            "PTX 7:",
            "`k` is defined a second time, first at line 5; give one of them another name",
        ],
    );
    let (error, _) =
        run(".func f() { ret; }\n.func f() { ret; }\n.visible .entry k(.param .u64 p, .param .u32 n) { ret; }\n");
    all(
        &error.expect("an error"),
        &["PTX 6:", "`f` is defined a second time, first at line 5"],
    );
    // A declaration is none.
    let declared = run(&format!(
        ".func f();\n.func f();\n.func f() {{ ret; }}\n.func f();\n{one}"
    ));
    assert_eq!(declared.0, None);
}

#[test]
fn addresses_of_parameters_are_not_generic() {
    let check = "ld.global.u64 %d5, [%d4]; setp.ne.u32 %p1, %r1, 7; @%p1 trap;";
    let good = [
        "mov.u64 %d1, n; ld.param.u32 %r1, [%d1]; ld.param.u64 %d4, [p];",
        "mov.u64 %d1, p; ld.param.u32 %r1, [%d1+8]; ld.param.u64 %d4, [%d1];",
        "mov.u64 %d1, p; cvta.param.u64 %d2, %d1; ld.u32 %r1, [%d2+8]; ld.u64 %d4, [%d2];",
        "cvta.param.u64 %d2, n; cvta.to.param.u64 %d3, %d2; ld.param.u32 %r1, [%d3]; ld.param.u64 %d4, [p];",
    ];
    for body in good {
        assert_eq!(run_body(&format!("{body} {check}")).0, None, "{body}");
    }
    for access in ["ld.u32", "ld.global.u32"] {
        let (error, _) = run_body(&format!("mov.u64 %d1, n;\n{access} %r1, [%d1];"));
        all(
            &error.expect("a fault"),
            &[
                "CUDA_ERROR_ILLEGAL_ADDRESS: 4 bytes at address 0x218 are not allocated",
                "of the .shared, .local or .param space without a cvta that makes it generic",
                &format!("at PTX line 8: {access} %r1, [%d1]"),
            ],
        );
    }
    let (error, _) = run_body("ld.global.u32 %r1, [n];");
    all(&error.expect("an error"), &["the variable is in another state space"]);
}

#[test]
fn a_function_has_no_generic_address_of_its_parameters() {
    let kernel = ".visible .entry k(.param .u64 p, .param .u32 n) {\n\
        .param .b32 v; .reg .b32 %r; mov.u32 %r, 1; st.param.b32 [v], %r; call.uni f, (v); ret; }";
    for address in ["a", "%d"] {
        let (error, _) = run(&format!(
            ".func f(.param .b32 a) {{ .reg .b64 %d;\nmov.b64 %d, 0; cvta.param.u64 %d, {address}; ret; }}\n{kernel}\n"
        ));
        all(
            &error.expect("an error"),
            &["PTX 6:", "cvta.param stands in a function; expected it in an .entry"],
        );
    }
}

#[test]
fn a_multicast_names_blocks_that_there_are() {
    let (error, _) = run_body(
        "ld.param.u64 %d1, [p];\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%d1], 16, [bar], 6;",
    );
    all(
        &error.expect("a fault"),
        &[
            "a multicast to blocks 0x6 of a cluster of 1; expected a mask of at most 0x1, one bit for each block",
            "clear the others, or launch larger clusters",
            "at PTX line 8",
        ],
    );
}
