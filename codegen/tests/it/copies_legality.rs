//! The legality table against the compiler: for each bulk and tensor copy and each target, a kernel that uses it lowers and
//! assembles where the table says yes, and is refused at its op where the table says no.
//!
//! By default four targets are tried; `GIRIH_LEGALITY=all` tries all of them. ptxas is the one that set-up fetches, or
//! `GIRIH_PTXAS`; what needs a newer PTX than it knows is lowered, but not assembled.
use crate::manifest::context;
use girih_codegen::{CompileOptions, PtxTarget, compile, ptxas::Ptxas};
use girih_core::target::{Feature, LoadMode, Op, PtxVersion, SharedSpace, StoreMode, Target};
use girih_core::tensor_map::Format;
use girih_ir::{module, pass, prelude::*};
use girih_passes::{pipeline, verify_target::required_ptx};
use std::{env, path::Path};

/// A tensor map and the memref that it is made of.
struct Map {
    memref: &'static str,
    map: String,
    rank: usize,
}

fn tiled(tile: &str, more: &str) -> Map {
    let element = tile.rsplit('x').next().unwrap_or(tile);
    let memref = match element {
        "bf16" => "memref<?x?xbf16, strided<[?, 1]>, #tile.global>",
        "f32" => "memref<?x?xf32, strided<[?, 1]>, #tile.global>",
        "i32" => "memref<?x?xi32, strided<[?, 1]>, #tile.global>",
        _ => "memref<?x?xi64, strided<[?, 1]>, #tile.global>",
    };
    Map {
        memref,
        map: format!("!tile.tensor_map<{tile}{more}>"),
        rank: 2,
    }
}

/// Images: N, H, W, C.
fn images(tile: &str, more: &str) -> Map {
    let element = tile.rsplit('x').next().unwrap_or(tile);
    let memref = match element {
        "bf16" => "memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>, #tile.global>",
        _ => "memref<?x?x?x?xi32, strided<[?, ?, ?, 1]>, #tile.global>",
    };
    Map {
        memref,
        map: format!("!tile.tensor_map<{tile}, {more}>"),
        rank: 4,
    }
}

const IM2COL: &str = "swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]";
const IM2COL_W: &str = "swizzle = 128, mode = im2col_w, rank = 4, lower = [-1], upper = [1]";
const IM2COL_W_128: &str = "swizzle = 128, mode = im2col_w_128, rank = 4, lower = [-1], upper = [1]";

fn load_map(mode: LoadMode) -> (Map, &'static str) {
    match mode {
        LoadMode::Tile => (tiled("64x64xbf16", ", swizzle = 128"), "64x64xbf16"),
        LoadMode::Gather4 => (tiled("1x64xbf16", ", swizzle = 128"), "4x64xbf16"),
        LoadMode::Im2col => (images("64x64xbf16", IM2COL), "64x64xbf16"),
        LoadMode::Im2colW => (images("60x64xbf16", IM2COL_W), "64x64xbf16"),
        LoadMode::Im2colW128 => (images("128x64xbf16", IM2COL_W_128), "136x64xbf16"),
    }
}

/// Coordinates: all but the innermost are known at run time only.
fn coords(map: &Map, four_rows: bool) -> String {
    let rows = if four_rows { 4 } else { map.rank - 1 };
    format!("{}%c0", "%x, ".repeat(rows))
}

/// What gives a tap, or a halo and a shift.
fn offsets(mode: LoadMode) -> &'static str {
    match mode {
        LoadMode::Tile => "",
        LoadMode::Gather4 => " gather4",
        LoadMode::Im2col => " offsets(%h1, %h2)",
        LoadMode::Im2colW => " offsets(%h4, %h1)",
        LoadMode::Im2colW128 => " offsets(%h2, %h1)",
    }
}

fn shared(shape: &str, swizzle: bool) -> String {
    let space = if swizzle {
        "#tile.shared<swizzle = 128>"
    } else {
        "#tile.shared<align = 128>"
    };
    format!("memref<{shape}, {space}>")
}

const BARRIER: &str = "memref<!tile.mbarrier, #tile.shared>";

/// The map, if any, and the body that uses a feature; `None` for what is no copy.
fn body(feature: Feature) -> Option<(Option<Map>, String)> {
    Some(match feature {
        Feature::TmaLoad {
            mode,
            space,
            multicast,
            cta_group,
        } => {
            let (map, shape) = load_map(mode);
            let memory = shared(shape, true);
            let text = format!(
                "%m = tile.alloc : {memory}\ntile.tma.load %map[{}], %m, %bar[]{}{}{}{} : {}, {memory}, {BARRIER}",
                coords(&map, mode == LoadMode::Gather4),
                offsets(mode),
                if multicast { " multicast %h1" } else { "" },
                if cta_group { " cta_group 2" } else { "" },
                if space == SharedSpace::Cta { " space cta" } else { "" },
                map.map
            );
            (Some(map), text)
        }
        Feature::TmaStore(mode) => {
            let (map, shape, four) = match mode {
                StoreMode::Tile => (tiled("64x64xbf16", ", swizzle = 128"), "64x64xbf16", ""),
                StoreMode::Scatter4 => (tiled("1x64xbf16", ", swizzle = 128"), "4x64xbf16", " scatter4"),
                StoreMode::Im2colNoOffs => (
                    images(
                        "64x64xbf16",
                        "swizzle = 128, mode = im2col, lower = [0, 0], upper = [0, 0]",
                    ),
                    "64x64xbf16",
                    "",
                ),
                StoreMode::Im2colNoOffsW => (
                    images(
                        "64x64xbf16",
                        "swizzle = 128, mode = im2col_w, rank = 4, lower = [0], upper = [0]",
                    ),
                    "64x64xbf16",
                    "",
                ),
            };
            let memory = shared(shape, true);
            let text = format!(
                "%m = tile.alloc : {memory}\ntile.tma.store %m, %map[{}]{four} : {memory}, {}",
                coords(&map, !four.is_empty()),
                map.map
            );
            (Some(map), text)
        }
        Feature::TmaReduce { mode, op, format } => {
            assert_eq!(
                format,
                Format::U32,
                "the table lists each operator with its first format"
            );
            let map = match mode {
                StoreMode::Tile => tiled("64x32xi32", ", swizzle = 128, format = unsigned"),
                StoreMode::Im2colNoOffs => images(
                    "64x32xi32",
                    "swizzle = 128, format = unsigned, mode = im2col, lower = [0, 0], upper = [0, 0]",
                ),
                _ => images(
                    "64x32xi32",
                    "swizzle = 128, format = unsigned, mode = im2col_w, rank = 4, lower = [0], upper = [0]",
                ),
            };
            let memory = shared("64x32xi32", true);
            let text = format!(
                "%m = tile.alloc : {memory}\ntile.tma.reduce {} %m, %map[{}] : {memory}, {}",
                op.name(),
                coords(&map, false),
                map.map
            );
            (Some(map), text)
        }
        Feature::TmaPrefetch(mode) => {
            let (map, _) = load_map(mode);
            let text = format!(
                "tile.tma.prefetch %map[{}]{} : {}",
                coords(&map, mode == LoadMode::Gather4),
                offsets(mode),
                map.map
            );
            (Some(map), text)
        }
        Feature::Op(op) => return family(op),
    })
}

/// A load of a box with clauses.
fn tile_load(row: &str, clauses: &str) -> (Option<Map>, String) {
    let (map, shape) = load_map(LoadMode::Tile);
    let memory = shared(shape, true);
    let text = format!(
        "%m = tile.alloc : {memory}\ntile.tma.load %map[{row}, %c0], %m, %bar[]{clauses} : {}, {memory}, {BARRIER}",
        map.map
    );
    (Some(map), text)
}

fn family(op: Op) -> Option<(Option<Map>, String)> {
    let memory = shared("256xi32", false);
    let alloc = format!("%m = tile.alloc : {memory}\n");
    let global = "memref<?xi32, #tile.global>";
    let remote = "memref<256xi32, #tile.shared_cluster>";
    let its = "memref<!tile.mbarrier, #tile.shared_cluster>";
    let there = format!(
        "{alloc}%there = tile.remote %m, %one : {memory} -> {remote}\n%its = tile.remote %bar, %one : {BARRIER} -> {its}\n"
    );
    let bytes = shared("128xi8", false);
    let in_shared = format!("%d = tile.alloc : {bytes}\n");
    let load = |more: &str| format!("{alloc}tile.bulk.load %A[%c0], %m, %bar[]{more} : {global}, {memory}, {BARRIER}");
    let text = match op {
        Op::BulkLoadCluster => load(""),
        Op::BulkLoadCta => load(" space cta"),
        Op::BulkLoadMulticast => load(" multicast %h1"),
        Op::BulkStore => format!("{alloc}tile.bulk.store %m, %A[%c0] : {memory}, {global}"),
        Op::BulkStoreMask => format!("{alloc}tile.bulk.store %m, %A[%c0] bytes %h4 : {memory}, {global}"),
        Op::BulkToCluster => format!("{there}tile.bulk.send %m, %there, %its : {memory}, {remote}, {its}"),
        Op::BulkReduceGlobal => format!("{alloc}tile.bulk.reduce add %m, %A[%c0] : {memory}, {global}"),
        Op::BulkReduceCluster => {
            format!("{there}tile.bulk.send_reduce add %m, %there, %its : {memory}, {remote}, {its}")
        }
        Op::BulkPrefetch => format!("%n = arith.constant 64 : i32\ntile.bulk.prefetch %A[%c0], %n : {global}"),
        Op::BulkGroup => "tile.bulk.commit\ntile.bulk.wait 0 read".into(),
        Op::CreatePolicy => "%half = arith.constant 0.5 : f32\n\
             %policy = tile.create_policy evict_first %half else evict_unchanged\n\
             memref.store %policy, %P[%c0] : memref<?xi64, #tile.global>"
            .into(),
        Op::CacheHint => load(" cache evict_last"),
        Op::CacheHintAccess => format!(
            "%tile = tile.load %A[%c0] cache evict_last : {global} -> tensor<64xi32>\n\
             tile.store %tile, %A[%c0] cache evict_first : tensor<64xi32>, {global}"
        ),
        Op::Multicast16 => return Some(tile_load("%x", " multicast %h1 mask_16b")),
        Op::Multicast32 => return Some(tile_load("%x", " multicast_32b %one")),
        Op::BulkReport => return Some(tile_load("%x", " report per_element_ff")),
        Op::TensorOverride => {
            let replaced = " override_address %wide override_dims(%x, %x) override_strides(%x)";
            return Some(tile_load("%c0", replaced));
        }
        Op::PrefetchEvictLast => {
            format!("%n = arith.constant 64 : i32\ntile.bulk.prefetch %A[%c0], %n evict_last : {global}")
        }
        Op::Mapa => format!("{there}tile.bulk.send %m, %there, %its : {memory}, {remote}, {its}"),
        Op::TensorMapReplace => format!(
            "{in_shared}tile.tensormap.replace global_dim %d ordinal 1 value %one : {bytes}, i32\n\
             tile.tensormap.replace global_address %d value %wide : {bytes}, i64\n\
             tile.tensormap.replace elemtype %d code 10 : {bytes}"
        ),
        Op::TensorMapAtomicity => format!("{in_shared}tile.tensormap.replace swizzle_atomicity %d code 1 : {bytes}"),
        Op::TensorMapSubByte => format!("{in_shared}tile.tensormap.replace elemtype %d code 13 : {bytes}"),
        Op::TensorMapSwizzle96 => format!("{in_shared}tile.tensormap.replace swizzle_mode %d code 4 : {bytes}"),
        Op::TensorMapFence => "tile.tensormap.release gpu\n\
             tile.tensormap.acquire %D gpu : memref<128xi8, #tile.global>"
            .into(),
        Op::TensorMapCopyFence => {
            format!("{in_shared}tile.tensormap.cp_fenceproxy %d, %D gpu : {bytes}, memref<128xi8, #tile.global>")
        }
        Op::PrefetchTensorMap => {
            let map = tiled("64x64xbf16", ", swizzle = 128");
            let text = format!("tile.prefetch_tensor_map %map : {}", map.map);
            return Some((Some(map), text));
        }
        _ => return None,
    };
    Some((None, text))
}

fn kernel(feature: Feature, target: Target) -> Option<String> {
    let (map, text) = body(feature)?;
    let (argument, made, handed, taken) = match &map {
        None => Default::default(),
        Some(Map { memref, map, .. }) => (
            format!(", %M: {memref}"),
            format!("%map = tile.tensor_map %M : {memref} -> {map}\n"),
            format!(" args(%map : {map})"),
            format!(" args(%map: {map})"),
        ),
    };
    // What an op needs besides the feature would hide whether the feature is refused.
    let barrier = if text.contains("%bar") {
        format!("%bar = tile.alloc : {BARRIER}\n")
    } else {
        String::new()
    };
    Some(format!(
        "module attributes {{tile.target = \"{target}\"}} {{\n\
         tile.kernel @k(%A: memref<?xi32, #tile.global>, %D: memref<128xi8, #tile.global>, %P: memref<?xi64, #tile.global>{argument}) threads(32) launch {{\n\
         %c1 = arith.constant 1 : index\n{made}tile.grid %c1, %c1, %c1{handed}\n}} body{taken} {{\n\
         %c0 = arith.constant 0 : index\n%one = arith.constant 1 : i32\n%wide = arith.constant 64 : i64\n\
         %h1 = arith.constant 1 : i16\n%h2 = arith.constant 2 : i16\n%h4 = arith.constant 4 : i16\n\
         %x = tile.block_id x\n{barrier}{text}\n}}\n}}\n"
    ))
}

/// PTX of a kernel and the version that it has, or what was said.
fn lower(source: &str, target: Target) -> Result<(String, PtxVersion), Vec<String>> {
    let c = context();
    let mut made = None;
    let (result, said) = module::collect_diagnostics(&c, || {
        let module = module::parse(&c, source.as_bytes(), "t.mlir")?;
        let version = required_ptx(module.as_operation()).ok_or(Reported)?;
        pass::run_pipeline(module.as_operation(), &pipeline::full(), Default::default())?;
        let ops = module.as_operation().nested_ops();
        let gpu_module = ops.iter().find(|op| op.full_name() == "gpu.module").ok_or(Reported)?;
        let ptx_target = PtxTarget::new(target, Some(version)).map_err(|e| {
            made = Some(Err(e.to_string()));
            Reported
        })?;
        let compiled = compile(*gpu_module, None, &CompileOptions::new(ptx_target));
        made = Some(compiled.map(|p| (p.text, version)).map_err(|e| e.to_string()));
        Ok::<_, Reported>(())
    });
    match (result, made) {
        (Ok(()), Some(Ok(made))) => Ok(made),
        (_, Some(Err(message))) => Err(vec![message]),
        _ => Err(said.iter().map(ToString::to_string).collect()),
    }
}

/// The newest PTX that a ptxas of this release knows.
fn newest_ptx(ptxas: &Ptxas) -> PtxVersion {
    match ptxas.version() {
        Ok(release) if release.starts_with("13.0") => PtxVersion(9, 0),
        Ok(release) if release.starts_with("13.5") => PtxVersion(9, 4),
        other => panic!("GIRIH_PTXAS must be of release 13.0 or 13.5, found {other:?}"),
    }
}

/// What is wrong with one cell; whether ptxas has seen it.
fn cell(feature: Feature, target: Target, ptxas: &Ptxas, newest: PtxVersion) -> Result<bool, String> {
    let Some(source) = kernel(feature, target) else {
        return Ok(false);
    };
    match (feature.legal(target), lower(&source, target)) {
        (Ok(_), Err(said)) => Err(format!(
            "{feature} on {target} exists, but is refused:\n{}\n{source}",
            said.join("\n")
        )),
        (Ok(_), Ok((text, version))) if version <= newest => match ptxas.assemble(&text, &target.to_string()) {
            Ok(_) => Ok(true),
            Err(e) => Err(format!("{feature} on {target} does not assemble:\n{e}\n{text}")),
        },
        (Ok(_), Ok(_)) => Ok(false),
        (Err(illegal), Err(said)) => {
            // Located, and at an op: not at the module, and not in LLVM.
            let expected = format!("op {illegal}");
            let at_op = |m: &&String| m.starts_with("t.mlir:") && m.ends_with(&expected);
            match said.iter().find(at_op) {
                Some(_) => Ok(false),
                None => Err(format!(
                    "{feature} on {target} must be refused with\n{expected}\nbut this was said:\n{}",
                    said.join("\n")
                )),
            }
        }
        (Err(illegal), Ok(_)) => Err(format!("{illegal}\nbut a kernel with it compiles")),
    }
}

#[test]
fn every_copy_compiles_where_it_exists_and_is_refused_where_not() {
    girih_ir::upstream::register_minimal_passes();
    girih_passes::register();
    let ptxas = env::var_os("GIRIH_PTXAS");
    let ptxas = Ptxas::find(ptxas.as_deref().map(Path::new)).expect("`cargo xtask setup` fetches ptxas");
    let newest = newest_ptx(&ptxas);
    let all = env::var_os("GIRIH_LEGALITY").is_some_and(|v| v == "all");
    let few = ["sm_80", "sm_90a", "sm_100a", "sm_120a"];
    let targets = Target::all().filter(|t| all || few.contains(&t.to_string().as_str()));
    let (mut yes, mut assembled, mut no, mut wrong) = (0, 0, 0, vec![]);
    for target in targets {
        for feature in Feature::all() {
            if body(feature).is_none() {
                continue;
            }
            match feature.legal(target) {
                Ok(_) => yes += 1,
                Err(_) => no += 1,
            }
            match cell(feature, target, &ptxas, newest) {
                Ok(seen) => assembled += usize::from(seen),
                Err(message) => wrong.push(message),
            }
        }
    }
    println!("{yes} cells say yes, of which ptxas assembled {assembled}; {no} say no");
    assert!(
        wrong.is_empty(),
        "{} of {} cells:\n{}",
        wrong.len(),
        yes + no,
        wrong[..wrong.len().min(5)].join("\n\n")
    );
    assert!(yes > 100 && no > 100 && assembled > 50, "{yes} {no} {assembled}");
}
