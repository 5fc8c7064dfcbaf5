//! Drawn transfers as PTX on the simulator, against the formulas. `GIRIH_TEST_CASES=n` draws n cases.
use super::{
    bench::Bench,
    draw::{case, legal},
    expected::outcome,
    form::{Form, Walk},
    shrink::smallest,
};
use girih_core::tensor_map::{Interleave, Swizzle};
use girih_sim::Simulator;
use std::collections::BTreeSet;

fn count() -> u64 {
    let asked = std::env::var("GIRIH_TEST_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(2200)
}

#[test]
fn drawn_transfers_do_on_the_simulator_what_the_formulas_say() {
    let mut bench = Bench::new(Box::new(Simulator::new())).expect("memory");
    let mut held = 0;
    for number in 0..count() {
        let case = case(0, number);
        assert!(legal(&case), "case {number}: {case}");
        let done = bench
            .run(&case)
            .unwrap_or_else(|error| panic!("case {number}: {case}\n{error}"));
        let Some(expected) = outcome(&case) else { continue };
        held += 1;
        if let Some(difference) = case.difference(&done, &expected, ["the simulator", "the formulas"]) {
            let small = smallest(&case, |small| {
                let (Ok(done), Some(expected)) = (bench.run(small), outcome(small)) else {
                    return false;
                };
                small.difference(&done, &expected, ["", ""]).is_some()
            });
            panic!("case {number}: {case}\n  {difference}\nthe smallest that differs: {small}");
        }
    }
    assert!(held * 10 >= count() * 9, "{held} of {} have a formula", count());
}

#[test]
fn every_instruction_and_every_field_of_a_map_is_drawn() {
    let cases: Vec<_> = (0..2000).map(|number| case(0, number)).collect();
    let forms: BTreeSet<String> = cases.iter().map(|c| c.form.to_string()).collect();
    for rank in 1..=5 {
        for place in ["shared::cta", "shared::cluster"] {
            let load = format!("cp.async.bulk.tensor.{rank}d.{place}.global.tile.mbarrier::complete_tx::bytes");
            assert!(forms.contains(&load), "{load}");
        }
        assert!(
            forms
                .iter()
                .any(|f| f.starts_with(&format!("cp.reduce.async.bulk.tensor.{rank}d"))),
            "{rank}"
        );
    }
    for part in [
        "multicast::cluster",
        "im2col.mbarrier",
        "im2col_no_offs.bulk_group",
        "prefetch.tensor",
        "L2::cache_hint",
        "cp.async.bulk.shared::cluster.shared::cta",
        "cp.reduce.async.bulk.shared::cluster",
        "add.noftz.bf16",
        "cp.async.bulk.prefetch.L2.global",
        "cp.async.cg.shared.global 16",
        "cp.async.ca.shared.global 4",
    ] {
        assert!(forms.iter().any(|f| f.contains(part)), "{part}");
    }
    let maps = || cases.iter().filter_map(|c| c.map.as_ref());
    let swizzles = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
    for interleave in [Interleave::None, Interleave::B16, Interleave::B32] {
        let of = |swizzle| maps().any(|m| m.interleave == interleave && m.swizzle == swizzle);
        assert!(swizzles.into_iter().all(of), "{interleave:?}");
    }
    assert_eq!(maps().map(|m| m.format.name()).collect::<BTreeSet<_>>().len(), 13);
    assert!(cases.iter().any(|c| c.coords.iter().any(|x| *x < 0)));
    assert!(
        cases
            .iter()
            .any(|c| c.mask.count_ones() > 1 && c.mask >> c.issuer & 1 == 0)
    );
}

#[test]
fn a_case_that_differs_is_made_small() {
    let wide = (0..)
        .map(|number| case(1, number))
        .find(|c| {
            matches!(
                c.form,
                Form::Load {
                    walk: Walk::Tile,
                    rank: 4,
                    ..
                }
            )
        })
        .expect("a load of four dimensions");
    // Any two loads differ that have a swizzle, say.
    let swizzled = |c: &super::Transfer| c.map.as_ref().is_some_and(|m| m.swizzle != Swizzle::None);
    let case = (0..)
        .map(|number| case(2, number))
        .find(|c| swizzled(c) && c.form == wide.form)
        .expect("one with a swizzle");
    let small = smallest(&case, swizzled);
    let map = small.map.as_ref().expect("a map");
    assert!(legal(&small) && swizzled(&small));
    assert_eq!((map.dims.len(), small.at, small.blocks), (map.dims.len().min(3), 0, 1));
    assert!(map.dims.iter().all(|size| *size == 1), "{small}");
}
