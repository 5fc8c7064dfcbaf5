//! Plans of drawn and chosen regions, held to what their shape in shared memory says.
use super::*;
use std::collections::BTreeMap;

/// A dense region of a tensor of its own size, or of a larger one.
fn region(format: Format, sizes: &[u64], extents: &[u64], swizzle: Swizzle) -> Region {
    let mut stride = 1;
    let mut dims = vec![];
    for (size, extent) in sizes.iter().zip(extents).rev() {
        dims.push(RegionDim {
            size: Some(*size),
            stride: Some(stride),
            start: if size == extent { Some(0) } else { None },
            extent: *extent,
        });
        stride *= size;
    }
    dims.reverse();
    Region {
        format,
        widest_row: WIDEST,
        in_shared: true,
        dims,
        swizzle,
    }
}

/// Every position below `sizes`, the last dimension fastest.
fn positions(sizes: &[u64]) -> Vec<Vec<u64>> {
    sizes.iter().fold(vec![vec![]], |all, size| {
        all.iter()
            .flat_map(|at| (0..*size).map(move |i| [at.as_slice(), &[i]].concat()))
            .collect()
    })
}

/// Where each element of shared memory comes from: the region's element number.
fn moved(region: &Region, plan: &Plan) -> BTreeMap<u64, u64> {
    let extents: Vec<u64> = plan
        .groups
        .iter()
        .map(|group| region.dims[group.clone()].iter().map(|dim| dim.extent).product())
        .collect();
    let span = region.swizzle.span_bytes().map(|bytes| bytes / region.element_bytes());
    let mut out = BTreeMap::new();
    for part in &plan.parts {
        assert!(part.box_dims.iter().all(|size| (1..=256).contains(size)), "{part:?}");
        assert_eq!(part.box_dims[part.box_dims.len() - 1] * region.element_bytes() % 16, 0);
        let counts: Vec<u64> = part.axes.iter().map(|axis| axis.count).collect();
        for n in positions(&counts) {
            let (mut at, mut shared) = (part.first.clone(), part.shared_first);
            for (axis, n) in part.axes.iter().zip(&n) {
                at[axis.dim] += n * axis.step;
                shared += n * axis.shared_step;
            }
            assert_eq!(shared * region.element_bytes() % 128, 0, "{part:?}");
            let pitch = part.box_dims[part.box_dims.len() - 1].max(span.unwrap_or(0));
            for inside in positions(&part.box_dims) {
                let row = inside[..inside.len() - 1]
                    .iter()
                    .zip(&part.box_dims)
                    .fold(0, |row, (i, size)| row * size + i);
                let element = at
                    .iter()
                    .zip(&inside)
                    .zip(&extents)
                    .fold(0, |number, ((at, i), extent)| number * extent + at + i);
                let place = shared + row * pitch + inside[inside.len() - 1];
                assert_eq!(out.insert(place, element), None, "element {place} is written twice");
            }
        }
    }
    out
}

/// What lies where, from the shape of shared memory alone.
fn expected(region: &Region) -> BTreeMap<u64, u64> {
    let shape = region.shared_shape();
    let row = region.dims[region.dims.len() - 1].extent;
    let panels = if shape.len() > region.dims.len() { shape[0] } else { 1 };
    let columns = row / panels;
    let outer: u64 = region.dims[..region.dims.len() - 1]
        .iter()
        .map(|dim| dim.extent)
        .product();
    let pitch = shape[shape.len() - 1];
    let mut out = BTreeMap::new();
    for (panel, line, column) in
        (0..panels).flat_map(|p| (0..outer).flat_map(move |l| (0..columns).map(move |c| (p, l, c))))
    {
        out.insert(
            (panel * outer + line) * pitch + column,
            line * row + panel * columns + column,
        );
    }
    out
}

fn check(region: &Region) -> Plan {
    let plan = region.plan().unwrap_or_else(|refusal| panic!("{refusal}: {region:?}"));
    assert_eq!(moved(region, &plan), expected(region), "{region:?} {plan:?}");
    plan
}

#[test]
fn a_region_that_fits_is_one_box() {
    let plan = check(&region(Format::Bf16, &[1000, 640], &[128, 64], Swizzle::B128));
    assert_eq!((plan.instructions(), &plan.parts[0].box_dims[..]), (1, &[128, 64][..]));
}

#[test]
fn wide_rows_are_panels() {
    let plan = check(&region(Format::Bf16, &[1000, 640], &[128, 192], Swizzle::B128));
    assert_eq!(plan.instructions(), 3);
    assert_eq!(
        plan.parts[0].axes,
        [PlanAxis {
            count: 3,
            dim: 1,
            step: 64,
            shared_step: 128 * 64
        }]
    );
}

#[test]
fn long_dimensions_are_cut_into_equal_boxes_or_get_a_tail() {
    let plan = check(&region(Format::F32, &[1000, 640], &[300, 32], Swizzle::B128));
    assert_eq!((plan.parts.len(), plan.instructions()), (1, 2));
    assert_eq!(plan.parts[0].box_dims, [150, 32]);
    let plan = check(&region(Format::F32, &[1000, 640], &[257, 32], Swizzle::B128));
    assert_eq!(
        plan.parts.iter().map(|part| part.box_dims[0]).collect::<Vec<_>>(),
        [256, 1]
    );
}

#[test]
fn outside_a_cut_dimension_boxes_have_one_position() {
    let plan = check(&region(Format::F16, &[2, 625, 64], &[2, 300, 64], Swizzle::None));
    assert_eq!(
        (plan.instructions(), &plan.parts[0].box_dims[..]),
        (4, &[1, 150, 64][..])
    );
}

#[test]
fn dimensions_without_gaps_join() {
    // Rows of 8 bytes alone are too short.
    let plan = check(&region(Format::F16, &[100, 16, 4], &[10, 16, 4], Swizzle::None));
    assert_eq!(plan.groups, [0..1, 1..3]);
    // Six dimensions are too many.
    let plan = check(&region(
        Format::F16,
        &[9, 2, 2, 2, 2, 8],
        &[3, 2, 2, 2, 2, 8],
        Swizzle::None,
    ));
    assert!(plan.groups.len() <= 5 && plan.instructions() == 1, "{plan:?}");
    // 2 x 512 joined would be more instructions than it is not.
    let plan = check(&region(Format::F16, &[9, 4, 128], &[9, 4, 128], Swizzle::None));
    assert_eq!(plan.instructions(), 1);
}

#[test]
fn drawn_regions_arrive_where_their_shape_says() {
    let mut state = 7u64;
    let mut draw = |low: u64, high: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        low + (state >> 33) % (high - low + 1)
    };
    let mut planned = 0;
    for _ in 0..200 {
        let rank = draw(1, 4) as usize;
        let swizzle = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128][draw(0, 3) as usize];
        let format = [Format::U8, Format::F16, Format::F32, Format::F64][draw(0, 3) as usize];
        let extents: Vec<u64> = (0..rank)
            .map(|dim| match dim + 1 == rank {
                true => draw(1, 6) * [4, 8, 16, 32][draw(0, 3) as usize],
                false => draw(1, if dim == 0 { 300 } else { 5 }),
            })
            .collect();
        let sizes: Vec<u64> = extents.iter().map(|extent| extent + draw(0, 1) * 16).collect();
        let region = region(format, &sizes, &extents, swizzle);
        if region.plan().is_ok() {
            check(&region);
            planned += 1;
        }
    }
    assert!(planned > 70, "{planned} of 200 regions have a plan");
}

#[test]
fn refusals_say_why_and_what_to_do() {
    let base = region(Format::F32, &[100, 64], &[16, 64], Swizzle::None);
    let changed = |change: fn(&mut Region)| {
        let mut region = base.clone();
        change(&mut region);
        region.plan().expect_err("a refusal").to_string()
    };
    assert!(changed(|r| r.dims[1].stride = Some(2)).contains("the innermost stride is 2, but tensor copies need 1"));
    assert!(changed(|r| r.dims[1].stride = None).contains("known only at run time"));
    assert!(changed(|r| r.dims[1].extent = 3).contains("3 elements, 12 bytes"));
    assert!(changed(|r| r.dims[0].stride = Some(50)).contains("a stride of 50 elements, 200 bytes"));
    assert!(changed(|r| r.dims[0].stride = Some(50)).contains("pad it to 52 elements"));
    assert!(changed(|r| r.dims[0].extent = 0).contains("dimension 0 of the region has no elements"));
    assert!(
        changed(|r| {
            r.swizzle = Swizzle::B128;
            r.dims[1].extent = 48;
        })
        .contains("rows of the region are 48 elements, 192 bytes, but swizzle 128 has panels of 128 bytes")
    );
    let many = |r: &mut Region| {
        let (outer, row) = (
            RegionDim {
                size: None,
                ..r.dims[0]
            },
            RegionDim {
                start: None,
                ..r.dims[1]
            },
        );
        r.dims = [vec![outer; 5], vec![row]].concat();
    };
    assert!(changed(many).contains("needs 6 dimensions of a tensor map"));
    let apart = |r: &mut Region| {
        r.dims[0].extent = 300;
        r.dims[1].extent = 4;
        r.dims.insert(
            0,
            RegionDim {
                extent: 3,
                size: None,
                stride: Some(4000),
                start: None,
            },
        );
    };
    assert!(
        changed(apart).contains("boxes would start 4800 bytes apart"),
        "{}",
        changed(apart)
    );
}
