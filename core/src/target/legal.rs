//! May an instruction be used on a target?
use super::{LoadMode, Op, PtxVersion, ReduceOp, Set, SharedSpace, StoreMode, Target};
use crate::tensor_map::Format;
use std::fmt;
use thiserror::Error;

/// Something that a target has or lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// `cp.async.bulk.tensor`, global to shared.
    TmaLoad {
        /// Access mode.
        mode: LoadMode,
        /// Destination.
        space: SharedSpace,
        /// `.multicast::cluster` with a 16-bit mask.
        multicast: bool,
        /// `.cta_group::1` or `::2`.
        cta_group: bool,
    },
    /// `cp.async.bulk.tensor`, shared to global.
    TmaStore(StoreMode),
    /// `cp.reduce.async.bulk.tensor`.
    TmaReduce {
        /// Access mode.
        mode: StoreMode,
        /// Operator.
        op: ReduceOp,
        /// Element format of the tensor map.
        format: Format,
    },
    /// `cp.async.bulk.prefetch.tensor`.
    TmaPrefetch(LoadMode),
    /// Any other instruction family.
    Op(Op),
}

impl From<Op> for Feature {
    fn from(op: Op) -> Self {
        Feature::Op(op)
    }
}

/// Why a feature cannot be used on a target.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{feature} {}, found target {target}{}", need_text(.needs, .reason), .alternative.map(|a| format!("; {a}")).unwrap_or_default())]
pub struct Illegal {
    /// The feature in words.
    pub feature: String,
    /// The target.
    pub target: Target,
    /// What would have it, such as `sm_100 or later with PTX 8.6`. Empty where no target has it.
    pub needs: Vec<String>,
    /// Why no target has it, where none does.
    pub reason: Option<String>,
    /// What to do instead, where something helps.
    pub alternative: Option<&'static str>,
}

fn need_text(needs: &[String], reason: &Option<String>) -> String {
    match reason {
        Some(reason) => format!("exists on no target: {reason}"),
        None => format!("needs {}", needs.join(", or ")),
    }
}

impl Feature {
    /// Every feature of the table, tensor copies first. Reductions are listed once for each operator and mode, with the
    /// operator's first format.
    pub fn all() -> Vec<Feature> {
        let mut out = Vec::new();
        for mode in LoadMode::ALL {
            for space in [SharedSpace::Cluster, SharedSpace::Cta] {
                for (multicast, cta_group) in [(false, false), (true, false), (false, true), (true, true)] {
                    if space == SharedSpace::Cluster || !multicast {
                        out.push(Feature::TmaLoad {
                            mode,
                            space,
                            multicast,
                            cta_group,
                        });
                    }
                }
            }
        }
        out.extend(StoreMode::ALL.map(Feature::TmaStore));
        for mode in [StoreMode::Tile, StoreMode::Im2colNoOffs, StoreMode::Im2colNoOffsW] {
            for op in ReduceOp::ALL {
                out.push(Feature::TmaReduce {
                    mode,
                    op,
                    format: op.formats()[0],
                });
            }
        }
        out.extend(LoadMode::ALL.map(Feature::TmaPrefetch));
        out.extend(Op::ALL.iter().copied().map(Feature::Op));
        out
    }

    /// The PTX version that the feature needs on `target`, never older than the target itself.
    pub fn legal(self, target: Target) -> Result<PtxVersion, Illegal> {
        if let Some(reason) = self.nowhere() {
            return Err(self.illegal(target, Some(reason)));
        }
        self.needs()
            .iter()
            .filter(|(set, _)| set.contains(target))
            .map(|&(_, version)| version.max(target.first_ptx()))
            .min()
            .ok_or_else(|| self.illegal(target, None))
    }

    fn illegal(self, target: Target, reason: Option<String>) -> Illegal {
        let needs = match reason {
            Some(_) => Vec::new(),
            None => self.on(),
        };
        Illegal {
            feature: self.to_string(),
            target,
            needs,
            reason,
            alternative: self.alternative(),
        }
    }

    /// Who has it, such as `sm_100 or later with PTX 8.6`: any of these.
    pub fn on(self) -> Vec<String> {
        let each = self.needs().iter();
        each.map(|(set, version)| format!("{} with PTX {version}", set.label()))
            .collect()
    }

    /// Combinations that PTX does not have at all.
    fn nowhere(self) -> Option<String> {
        match self {
            Feature::TmaLoad {
                space: SharedSpace::Cta,
                multicast: true,
                ..
            } => Some("a multicast writes to shared::cluster".into()),
            Feature::TmaReduce {
                mode: StoreMode::Scatter4,
                ..
            } => Some("reductions have no scatter4".into()),
            Feature::TmaReduce { op, format, .. } if !op.formats().contains(&format) => {
                let formats: Vec<_> = op.formats().iter().map(|format| format.name()).collect();
                Some(format!("{} takes {}", op.name(), formats.join(", ")))
            }
            _ => None,
        }
    }

    /// Targets that have it, each with the PTX version.
    fn needs(self) -> &'static [(Set, PtxVersion)] {
        match self {
            Feature::TmaLoad { cta_group: true, .. } => &[(Set::Blackwell, PtxVersion(8, 6))],
            Feature::TmaLoad { mode, space, .. } => mode.load_needs(space),
            Feature::TmaStore(mode) | Feature::TmaReduce { mode, .. } => mode.needs(),
            Feature::TmaPrefetch(mode) => mode.prefetch_needs(),
            Feature::Op(op) => op.needs(),
        }
    }

    fn alternative(self) -> Option<&'static str> {
        match self {
            Feature::TmaLoad { cta_group: true, .. } => Some("leave cta_group out: every block loads its own part"),
            Feature::TmaLoad {
                space: SharedSpace::Cta,
                multicast: true,
                ..
            } => Some("load to shared::cluster"),
            Feature::TmaLoad { mode, space, .. } => mode.alternative(space),
            Feature::TmaStore(mode) => mode.alternative(),
            Feature::TmaReduce { .. } => Some("use red.global on each element"),
            Feature::TmaPrefetch(_) => Some("leave it out: a prefetch changes no result"),
            Feature::Op(op) => op.alternative(),
        }
    }

    /// One PTX statement that uses the feature. Registers are `%p` predicate, `%h` b16, `%r` b32, `%f` f32, `%d` b64 and
    /// `%q` b128, all numbered from 0.
    pub fn example(self) -> String {
        let load = |mode: LoadMode| match mode {
            LoadMode::Tile => ("2d", "{%r1, %r2}", ""),
            LoadMode::Gather4 => ("2d", "{%r1, %r2, %r3, %r4, %r5}", ""),
            LoadMode::Im2col => ("4d", "{%r1, %r2, %r3, %r4}", ", {%h0, %h1}"),
            LoadMode::Im2colW | LoadMode::Im2colW128 => ("4d", "{%r1, %r2, %r3, %r4}", ", {%h0, %h1}"),
        };
        let store = |mode: StoreMode| match mode {
            StoreMode::Tile => ("2d", "{%r1, %r2}"),
            StoreMode::Scatter4 => ("2d", "{%r1, %r2, %r3, %r4, %r5}"),
            StoreMode::Im2colNoOffs | StoreMode::Im2colNoOffsW => ("4d", "{%r1, %r2, %r3, %r4}"),
        };
        match self {
            Feature::TmaLoad {
                mode,
                space,
                multicast,
                cta_group,
            } => {
                let (rank, coords, info) = load(mode);
                let (cast, mask) = if multicast {
                    (".multicast::cluster", ", %h2")
                } else {
                    ("", "")
                };
                let group = if cta_group { ".cta_group::1" } else { "" };
                format!(
                    "cp.async.bulk.tensor.{rank}.{}.global.{}.mbarrier::complete_tx::bytes{cast}{group} \
                     [%r0], [%d0, {coords}], [%r6]{info}{mask};",
                    space.name(),
                    mode.name()
                )
            }
            Feature::TmaStore(mode) => {
                let (rank, coords) = store(mode);
                format!(
                    "cp.async.bulk.tensor.{rank}.global.shared::cta.{}.bulk_group [%d0, {coords}], [%r0];",
                    mode.name()
                )
            }
            Feature::TmaReduce { mode, op, .. } => {
                let (rank, coords) = store(mode);
                format!(
                    "cp.reduce.async.bulk.tensor.{rank}.global.shared::cta.{}.{}.bulk_group [%d0, {coords}], [%r0];",
                    op.name(),
                    mode.name()
                )
            }
            Feature::TmaPrefetch(mode) => {
                let (rank, coords, info) = load(mode);
                format!(
                    "cp.async.bulk.prefetch.tensor.{rank}.L2.global.{} [%d0, {coords}]{info};",
                    mode.name()
                )
            }
            Feature::Op(op) => op.example().into(),
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Feature::TmaLoad {
                mode,
                space,
                multicast,
                cta_group,
            } => {
                write!(f, "a tensor load .{} to {}", mode.name(), space.name())?;
                if *multicast {
                    f.write_str(" with multicast")?;
                }
                if *cta_group {
                    f.write_str(if *multicast {
                        " and cta_group"
                    } else {
                        " with cta_group"
                    })?;
                }
                Ok(())
            }
            Feature::TmaStore(mode) => write!(f, "a tensor store .{}", mode.name()),
            Feature::TmaReduce { mode, op, format } => {
                write!(
                    f,
                    "a tensor reduction .{} .{} of {}",
                    op.name(),
                    mode.name(),
                    format.name()
                )
            }
            Feature::TmaPrefetch(mode) => write!(f, "a tensor prefetch .{}", mode.name()),
            Feature::Op(op) => f.write_str(op.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(feature: impl Into<Feature>, target: &str) -> String {
        feature
            .into()
            .legal(target.parse().expect("a target"))
            .expect_err("illegal")
            .to_string()
    }

    fn load(mode: LoadMode, space: SharedSpace) -> Feature {
        Feature::TmaLoad {
            mode,
            space,
            multicast: false,
            cta_group: false,
        }
    }

    #[test]
    fn versions_are_those_of_feature_and_target() {
        let legal = |feature: Feature, target: &str| feature.legal(target.parse().expect("a target"));
        let tile = load(LoadMode::Tile, SharedSpace::Cluster);
        assert_eq!(legal(tile, "sm_90a"), Ok(PtxVersion(8, 0)));
        assert_eq!(legal(tile, "sm_120a"), Ok(PtxVersion(8, 7)));
        assert_eq!(
            legal(load(LoadMode::Tile, SharedSpace::Cta), "sm_90a"),
            Ok(PtxVersion(8, 6))
        );
        assert_eq!(
            legal(load(LoadMode::Gather4, SharedSpace::Cta), "sm_100"),
            Ok(PtxVersion(8, 6))
        );
        assert!(legal(load(LoadMode::Gather4, SharedSpace::Cluster), "sm_100").is_err());
    }

    #[test]
    fn messages_name_targets_and_an_alternative() {
        assert_eq!(
            message(load(LoadMode::Gather4, SharedSpace::Cta), "sm_90a"),
            "a tensor load .tile::gather4 to shared::cta needs sm_100 or later with PTX 8.6, found target sm_90a; \
             load the four rows with four tile copies"
        );
        assert_eq!(
            message(Op::Wgmma, "sm_100a"),
            "wgmma.mma_async needs sm_90a with PTX 8.0, found target sm_100a; use mma.sync, or tcgen05.mma where it exists"
        );
        let reduction = Feature::TmaReduce {
            mode: StoreMode::Tile,
            op: ReduceOp::Min,
            format: Format::F32,
        };
        assert_eq!(
            message(reduction, "sm_90a"),
            "a tensor reduction .min .tile of f32 exists on no target: min takes u32, s32, u64, s64, f16, bf16, \
             found target sm_90a; use red.global on each element"
        );
    }

    #[test]
    fn every_feature_exists_somewhere_and_says_where_it_does_not() {
        for feature in Feature::all() {
            assert!(Target::all().any(|target| feature.legal(target).is_ok()), "{feature}");
            for target in Target::all() {
                if let Err(illegal) = feature.legal(target) {
                    assert!(!illegal.needs.is_empty(), "{feature} on {target}");
                }
            }
        }
    }
}
