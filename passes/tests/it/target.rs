//! `tile-verify-target`, `tile-set-target`, and the PTX version that a module needs.
use crate::support::{context, kernel, run_ok, says};
use girih_core::target::{Feature, PtxVersion, Target};
use girih_dialects::tile::{features, op_definitions};
use girih_ir::module;
use girih_passes::verify_target::{required_ptx, verify_ptx};
use pretty_assertions::assert_eq;

fn ptx(target: &str, body: &str) -> Option<PtxVersion> {
    let context = context();
    let module = module::parse(&context, kernel(target, body).as_bytes(), "t.mlir").expect("the kernel is right");
    required_ptx(module.as_operation())
}

#[test]
fn every_op_of_the_dialect_says_what_it_needs() {
    let rows: Vec<_> = features::ROWS.iter().map(|(name, _)| *name).collect();
    let missing: Vec<_> = op_definitions()
        .map(|def| def.name)
        .filter(|name| !rows.contains(name))
        .collect();
    assert_eq!(missing, [""; 0]);
    for (name, needs) in features::ROWS {
        if let features::Needs::Fixed(all) = needs {
            for feature in *all {
                let somewhere = |f: Feature| Target::all().any(|t| f.legal(t).is_ok());
                assert!(somewhere(*feature), "{name} needs {feature}, which no target has");
            }
        }
    }
}

#[test]
fn the_version_is_the_newest_that_an_op_needs() {
    assert_eq!(ptx("sm_80", "tile.barrier"), Some(PtxVersion(7, 0)));
    let wait = "%b = tile.alloc : memref<!tile.mbarrier, #tile.shared>\n%p = arith.constant false\n\
                %d = tile.mbarrier.test_wait %b[], %p : memref<!tile.mbarrier, #tile.shared>";
    assert_eq!(ptx("sm_80", wait), Some(PtxVersion(7, 1)));
    assert_eq!(ptx("sm_90", "%e = tile.elect"), Some(PtxVersion(8, 0)));
    assert_eq!(ptx("sm_103a", "%e = tile.elect"), Some(PtxVersion(8, 8)));
}

#[test]
fn a_version_that_is_too_old_is_refused_at_each_op() {
    let context = context();
    let source = kernel("sm_90", "%e = tile.elect\ntile.fence cluster");
    let module = module::parse(&context, source.as_bytes(), "t.mlir").expect("the kernel is right");
    let check = |version| module::collect_diagnostics(&context, || verify_ptx(module.as_operation(), version));
    let (verdict, said) = check(PtxVersion(7, 8));
    assert!(verdict.is_err());
    assert_eq!(
        said.iter().map(|m| m.to_string()).collect::<Vec<_>>(),
        [
            "t.mlir:6:6: error: 'tile.elect' op elect.sync needs PTX 8.0 or later on sm_90, found PTX 7.8; ask for a newer one, \
          or for none"
        ]
    );
    assert_eq!(check(PtxVersion(8, 0)), (Ok(()), vec![]));
}

#[test]
fn all_violations_come_at_once_with_the_targets_and_the_alternative() {
    let source = kernel(
        "sm_80",
        "%e = tile.elect\ntile.fence cluster\ntile.fence gpu\ntile.wgmma.commit",
    );
    assert_eq!(
        says(&source, "tile-verify-target"),
        [
            "6:6: error: 'tile.elect' op elect.sync needs sm_90 or later with PTX 8.0, found target sm_80; \
             compare the lane id with 0",
            "7:1: error: 'tile.fence' op fences of cluster scope needs sm_90 or later with PTX 7.8, found target sm_80; \
             use scope gpu",
            "9:1: error: 'tile.wgmma.commit' op wgmma.mma_async needs sm_90a with PTX 8.0, found target sm_80; \
             use mma.sync, or tcgen05.mma where it exists",
        ]
    );
}

#[test]
fn what_the_target_has_passes_unchanged() {
    let source = kernel("sm_90a", "%e = tile.elect\ntile.wgmma.fence");
    assert_eq!(run_ok(&source, "tile-verify-target"), run_ok(&source, ""));
}

#[test]
fn a_module_without_tile_ops_needs_no_target() {
    run_ok("func.func @f() { return }", "tile-verify-target");
}

#[test]
fn the_target_is_set_only_where_there_is_none() {
    let named = run_ok("module {}", "tile-set-target{target=sm_100a}");
    assert!(named.contains(r#"tile.target = "sm_100a""#), "{named}");
    assert_eq!(run_ok(&named, "tile-set-target{target=sm_100a}"), named);
    assert_eq!(
        says(&named, "tile-set-target"),
        ["1:1: remark: the module names sm_100a itself, so tile-set-target{target=sm_90a} has no effect"]
    );
    assert_eq!(
        says("module {}", "tile-set-target{target=sm90a}"),
        ["1:1: error: option 'target' of tile-set-target: unknown target `sm90a`; did you mean `sm_90a`?"]
    );
}
