//! What is in memory and registers, and how it is printed.
use super::support::{ONE_WARP, Program, STORE, warp};

#[test]
fn initialisers_fill_memory_from_the_first_element() {
    let got = warp(
        ".const .align 4 .u16 a[2][3] = {{1, 2}, {3}}; .global .u32 b[4] = {7, 8}; .global .u64 p = generic(b) + 4;",
        "mov.u64 %d2, a; add.u64 %d2, %d2, 6; ld.const.u16 %h1, [%d2]; cvt.u32.u16 %r1, %h1;\n\
         mov.u64 %d3, p; ld.global.u64 %d4, [%d3]; ld.u32 %r2, [%d4]; mad.lo.u32 %r1, %r2, 10, %r1; ld.u32 %r3, [%d4+4]; add.u32 %r1, %r1, %r3;",
    );
    assert_eq!(got, vec![83; 32]);
}

#[test]
fn generic_addresses_reach_every_space() {
    let got = warp(
        ".shared .u32 s[32];",
        ".local .u32 l[2]; mov.u64 %d2, l; cvta.local.u64 %d3, %d2; st.u32 [%d3+4], %t; ld.local.u32 %r2, [%d2+4];\n\
         mov.u64 %d4, s; cvta.shared.u64 %d5, %d4; mul.wide.u32 %d6, %t, 4; add.u64 %d5, %d5, %d6; st.u32 [%d5], %r2;\n\
         bar.warp.sync -1; add.u64 %d7, %d4, %d6; ld.shared.u32 %r1, [%d7];\n\
         isspacep.shared %p1, %d5; isspacep.local %p2, %d3; isspacep.global %p3, %out; and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3;\n\
         @!%p1 mov.u32 %r1, 999;",
    );
    assert_eq!(got, (0..32).collect::<Vec<u32>>());
}

#[test]
fn vector_registers_have_components() {
    let got = warp(
        ".shared .align 16 .b8 s[512];",
        ".reg .v4 .u32 v; .reg .v2 .b64 w; mov.u32 v.x, %t; add.u32 v.y, v.x, 1; mov.u32 v.z, 5; mov.u32 v.a, 7;\n\
         mov.u32 %r2, s; shl.b32 %r3, %t, 4; add.u32 %r2, %r2, %r3; st.shared.v4.u32 [%r2], v; ld.shared.v2.b64 w, [%r2];\n\
         cvt.u32.u64 %r4, w.y; shr.u64 %d3, w.x, 32; cvt.u32.u64 %r5, %d3; mad.lo.u32 %r1, %r5, 10, %r4;",
    );
    assert_eq!(got, (0..32).map(|t| 10 * (t + 1) + 5).collect::<Vec<u32>>());
}

#[test]
fn printed_text_is_formatted_as_c_does() {
    let text: String = "t=%d %5.2f|%-4x|%04u %s %lld%%\n"
        .bytes()
        .map(|b| format!("{b}, "))
        .collect();
    let word: String = "hi".bytes().map(|b| format!("{b}, ")).collect();
    let mut program = Program::new(
        &format!(
            ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n\
             .global .b8 text[] = {{{text}0}}; .global .b8 word[] = {{{word}0}};"
        ),
        &format!(
            ".local .align 8 .b8 args[48]; setp.gt.u32 %p1, %t, 1; mov.u32 %r1, 0; @%p1 bra E;\n\
             st.local.u32 [args], %t; mov.b64 %d2, 0d4009000000000000; st.local.b64 [args+8], %d2; mov.u32 %r2, 255; st.local.u32 [args+16], %r2;\n\
             st.local.u32 [args+20], 7; mov.u64 %d3, word; st.local.u64 [args+24], %d3; mov.u64 %d4, -5; st.local.u64 [args+32], %d4;\n\
             mov.u64 %d5, args; cvta.local.u64 %d5, %d5; mov.u64 %d6, text;\n\
             {{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %d6; st.param.b64 [y], %d5; call (z), vprintf, (x, y); ld.param.b32 %r1, [z]; }}\nE: {STORE}"
        ),
        32,
    );
    program.simulator.hide_output();
    program.run(&ONE_WARP).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        program.simulator.output(),
        "t=0  3.12|ff  |0007 hi -5%\nt=1  3.12|ff  |0007 hi -5%\n"
    );
    assert_eq!(program.words()[..3], [6, 6, 0]);
}

/// Zeros, ones, a subnormal number, infinities and NaNs, of both signs.
const CORNERS: [u32; 8] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xc000_0000,
    0x8000_0001,
    0x7f80_0000,
    0x7fc1_2345,
    0xff80_0001,
];

#[test]
fn extremes_of_three_are_those_of_two_and_of_the_third() {
    let corners: String = CORNERS.map(|x| format!("{x}")).join(", ");
    let table = format!(".global .u32 corners[8] = {{{corners}}};");
    // Each lane takes two of the numbers, and every third.
    let numbers = "mov.u64 %d2, corners; shr.u32 %r40, %t, 3; and.b32 %r41, %t, 7; mul.wide.u32 %d3, %r41, 4; add.u64 %d3, %d2, %d3;\n\
                   ld.global.b32 %r2, [%d3]; mul.wide.u32 %d3, %r40, 4; add.u64 %d3, %d2, %d3;\n";
    for modifiers in ["", ".NaN", ".ftz", ".ftz.NaN"] {
        for (name, magnitudes) in [("max", false), ("min", false), ("max", true), ("min", true)] {
            let (three, sign) = if magnitudes { (".abs", "0x7fffffff") } else { ("", "-1") };
            let mut body = numbers.to_owned() + "mov.u32 %r1, 0;\n";
            for (half, third) in [0, 16]
                .into_iter()
                .flat_map(|half| (0..8).map(move |third| (half, third)))
            {
                body += &format!(
                    "ld.global.b32 %r3, [%d3+{half}]; ld.global.b32 %r4, [%d2+{}];\n\
                     {name}{modifiers}{three}.f32 %r5, %r2, %r3, %r4;\n\
                     and.b32 %r6, %r2, {sign}; and.b32 %r7, %r3, {sign}; and.b32 %r8, %r4, {sign};\n\
                     {name}{modifiers}.f32 %r9, %r6, %r7; {name}{modifiers}.f32 %r9, %r9, %r8;\n\
                     setp.ne.b32 %p1, %r5, %r9; @%p1 add.u32 %r1, %r1, 1;\n",
                    4 * third
                );
            }
            assert_eq!(warp(&table, &body), vec![0; 32], "{name}{modifiers}{three}");
        }
    }
}

#[test]
fn extremes_of_three_have_the_numbers_of_the_specification() {
    const NAN: u32 = 0x7fff_ffff;
    for (instruction, [a, b, c], want) in [
        ("max.f32", [0x3f80_0000, 0xc000_0000, 0x4040_0000], 0x4040_0000),
        ("min.f32", [0x3f80_0000, 0xc000_0000, 0x4040_0000], 0xc000_0000),
        ("max.abs.f32", [0x3f80_0000, 0xc080_0000, 0x4040_0000], 0x4080_0000),
        ("min.abs.f32", [0xbf80_0000, 0xc080_0000, 0x4040_0000], 0x3f80_0000),
        // A zero below zero is the less; a number is what it is beside NaN, unless NaN is asked for.
        ("max.f32", [0x8000_0000, 0, 0x8000_0000], 0),
        ("min.f32", [0, 0, 0x8000_0000], 0x8000_0000),
        ("max.f32", [NAN, NAN, 0xbf80_0000], 0xbf80_0000),
        ("min.f32", [0xbf80_0000, NAN, NAN], 0xbf80_0000),
        ("max.f32", [0x7fc1_2345; 3], NAN),
        ("max.NaN.f32", [0xffc0_0000, 0x3f80_0000, 0x4000_0000], NAN),
        ("min.NaN.f32", [0x3f80_0000, 0x4000_0000, 0x7f80_0001], NAN),
        ("max.ftz.NaN.abs.f32", [0x8000_0001, 1, 0x8000_0000], 0),
        ("min.ftz.f32", [0x8000_0001, 1, 0], 0x8000_0000),
        ("min.NaN.f32", [0x8000_0001, 1, 0], 0x8000_0001),
    ] {
        let body =
            format!("mov.b32 %r2, {a:#x}; mov.b32 %r3, {b:#x}; mov.b32 %r1, {c:#x}; {instruction} %r1, %r2, %r3, %r1;");
        let found = warp("", &body);
        assert_eq!(
            found,
            vec![want; 32],
            "{instruction} of {a:#x}, {b:#x}, {c:#x}: {:#x}",
            found[0]
        );
    }
}
