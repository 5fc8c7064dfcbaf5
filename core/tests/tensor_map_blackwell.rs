//! Tensor maps of later architectures, whose rules come from NVIDIA's text (`cuda.h` 13.5, PTX ISA 9.4 section 9.7.10.28).
use girih_core::tensor_map::{Caps, Fill, Format, Interleave, L2Promotion, Mode, Rule, Swizzle, TensorMap, WidePixels};

/// Packed 4-bit floats: rows of 256 values, boxes of 128.
fn packed() -> TensorMap {
    TensorMap {
        format: Format::B4x16P64,
        address: 0x1000,
        dims: vec![256, 64],
        strides: vec![128],
        mode: Mode::Tiled { box_dims: vec![128, 8] },
        element_strides: vec![1, 1],
        interleave: Interleave::None,
        swizzle: Swizzle::B128,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::None,
    }
}

fn rules(caps: &Caps, change: impl FnOnce(&mut TensorMap)) -> Vec<Rule> {
    let mut map = packed();
    change(&mut map);
    map.validate(caps)
        .err()
        .unwrap_or_default()
        .iter()
        .map(|violation| violation.rule)
        .collect()
}

#[test]
fn sub_byte_formats_exist_from_sm_100_on() {
    assert_eq!(rules(&Caps::SM_100, |_| {}), []);
    assert_eq!(rules(&Caps::SM_90, |_| {}), [Rule::Format]);
    let text = packed().validate(&Caps::SM_90).unwrap_err()[0].to_string();
    assert_eq!(
        text,
        "format = b4x16_p64, but sm_90 has no sub-byte tensor maps; move the bytes as u8, or compile for sm_100a or later"
    );
}

#[test]
fn padded_sub_byte_boxes_are_128_wide_and_32_aligned() {
    for (expected, change) in [
        (
            Rule::InnerMultiple,
            (|m| m.mode = Mode::Tiled { box_dims: vec![64, 8] }) as fn(&mut TensorMap),
        ),
        (Rule::AddressAlignment, |m| m.address = 0x1010),
        (Rule::StrideAlignment, |m| m.strides[0] = 144),
        (Rule::Dimension, |m| m.dims[0] = 200),
        (Rule::Swizzle, |m| m.swizzle = Swizzle::B64),
        (Rule::Fill, |m| m.fill = Fill::Nan),
        (Rule::Interleave, |m| {
            (m.interleave, m.dims, m.strides) = (Interleave::B16, vec![256, 8, 8], vec![128, 1024]);
            (m.mode, m.element_strides) = (
                Mode::Tiled {
                    box_dims: vec![128, 8, 1],
                },
                vec![1; 3],
            );
        }),
    ] {
        assert_eq!(rules(&Caps::SM_100, change), [expected]);
    }
}

#[test]
fn unpadded_four_bit_rows_are_even_and_fill_16_bytes() {
    let unpadded = |m: &mut TensorMap| {
        (m.format, m.strides[0], m.swizzle) = (Format::B4x16, 128, Swizzle::B32);
        m.mode = Mode::Tiled { box_dims: vec![64, 8] };
    };
    assert_eq!(rules(&Caps::SM_100, unpadded), []);
    assert_eq!(
        rules(&Caps::SM_100, |m| (unpadded(m), m.dims[0] = 255).0),
        [Rule::Dimension]
    );
    let narrow = |m: &mut TensorMap| (unpadded(m), m.mode = Mode::Tiled { box_dims: vec![48, 8] }).0;
    assert_eq!(rules(&Caps::SM_100, narrow), [Rule::InnerMultiple]);
    let wide = |m: &mut TensorMap| (unpadded(m), m.mode = Mode::Tiled { box_dims: vec![96, 8] }).0;
    assert_eq!(rules(&Caps::SM_100, wide), [Rule::InnerSpan]);
}

#[test]
fn larger_atoms_and_the_96_byte_swizzle_belong_to_their_targets() {
    let f32_rows = |swizzle| {
        move |m: &mut TensorMap| {
            (m.format, m.strides[0], m.swizzle) = (Format::F32, 1024, swizzle);
            m.mode = Mode::Tiled { box_dims: vec![24, 8] };
        }
    };
    for swizzle in [Swizzle::B128Atom32, Swizzle::B128Atom32Flip8, Swizzle::B128Atom64] {
        assert_eq!(rules(&Caps::SM_90, f32_rows(swizzle)), [Rule::Swizzle]);
        assert_eq!(rules(&Caps::SM_100, f32_rows(swizzle)), []);
    }
    assert_eq!(rules(&Caps::SM_100, f32_rows(Swizzle::B96)), [Rule::Swizzle]);
    assert_eq!(rules(&Caps::SM_103, f32_rows(Swizzle::B96)), []);
}

/// Images of 64 channels, 100 pixels wide.
fn along_w(pixels: WidePixels) -> TensorMap {
    TensorMap {
        format: Format::Bf16,
        address: 0x1000,
        dims: vec![64, 100, 50, 8],
        strides: vec![128, 12_800, 640_000],
        mode: Mode::Im2colWide {
            lower: -1,
            upper: 1,
            channels_per_pixel: 64,
            pixels,
        },
        element_strides: vec![1; 4],
        swizzle: Swizzle::B128,
        ..packed()
    }
}

fn wide_messages(map: TensorMap, caps: &Caps) -> Vec<String> {
    let violations = map.validate(caps).err().unwrap_or_default();
    violations.iter().map(ToString::to_string).collect()
}

#[test]
fn im2col_along_w_exists_from_sm_100_on() {
    for pixels in [WidePixels::W(1024), WidePixels::W128] {
        assert_eq!(along_w(pixels).validate(&Caps::SM_100), Ok(()));
        assert_eq!(
            wide_messages(along_w(pixels), &Caps::SM_90),
            ["mode = im2col along W, but sm_90 has none; use mode im2col, or compile for sm_100a or later"]
        );
    }
}

#[test]
fn im2col_along_w_has_its_own_rules() {
    let w = WidePixels::W(1);
    for swizzle in Swizzle::ALL {
        for (pixels, legal) in [
            (
                w,
                matches!(
                    swizzle,
                    Swizzle::B64 | Swizzle::B96 | Swizzle::B128 | Swizzle::B128Atom32
                ),
            ),
            (
                WidePixels::W128,
                matches!(swizzle, Swizzle::B64 | Swizzle::B128 | Swizzle::B128Atom32),
            ),
        ] {
            let mut map = TensorMap {
                swizzle,
                ..along_w(pixels)
            };
            if let Mode::Im2colWide { channels_per_pixel, .. } = &mut map.mode {
                *channels_per_pixel = 16;
            }
            assert_eq!(map.validate(&Caps::SM_103).is_ok(), legal, "{swizzle:?} {pixels:?}");
        }
    }
    let with = |lower, upper, pixels| TensorMap {
        mode: Mode::Im2colWide {
            lower,
            upper,
            channels_per_pixel: 64,
            pixels,
        },
        ..along_w(pixels)
    };
    assert_eq!(
        wide_messages(with(-40_000, 0, w), &Caps::SM_100),
        [
            "lower[0] = -40000, but im2col along W allows -32768 to 32767; move the rest of the corner into the tensor's \
          address or dimensions"
        ]
    );
    assert_eq!(
        wide_messages(with(3, -97, w), &Caps::SM_100),
        [
            "upper[0] = -97, but dims[1] + upper = 3 must be greater than lower = 3; make the pixel box at least one pixel wide"
        ]
    );
    let rules = |map: TensorMap| -> Vec<Rule> {
        let violations = map.validate(&Caps::SM_100).err().unwrap_or_default();
        violations.iter().map(|v| v.rule).collect()
    };
    assert_eq!(rules(with(0, 0, WidePixels::W(1025))), [Rule::PixelsPerColumn]);
    let interleaved = TensorMap {
        interleave: Interleave::B16,
        ..along_w(w)
    };
    assert_eq!(rules(interleaved), [Rule::Interleave]);
    let flat = TensorMap {
        dims: vec![64, 100],
        strides: vec![128],
        element_strides: vec![1; 2],
        ..along_w(w)
    };
    assert_eq!(rules(flat), [Rule::Rank]);
}
