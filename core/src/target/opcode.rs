//! Opcodes of tensor copies as PTX spells them (PTX ISA 9.4 section 9.7.10.28), taken apart.
//!
//! ```text
//! cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint
//!                      |  |           |      |    |                           a policy follows
//!                 rank 2  destination source mode how it completes
//! ```
//!
//! A qualifier that PTX lets out reads as its default; everything else must be there, in PTX's order.
use super::{LoadMode, MaskWidth, ReduceOp, Report, SharedSpace, StoreMode};
use std::fmt;
use thiserror::Error;

/// What a tensor copy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyKind {
    /// Global to shared memory; an mbarrier counts the bytes.
    Load {
        /// Mode.
        mode: LoadMode,
        /// Window through which the destination is named.
        space: SharedSpace,
        /// What it reports on the mbarrier besides bytes.
        report: Option<Report>,
        /// The mask of blocks that follows, if one does.
        multicast: Option<MaskWidth>,
        /// Whose mbarrier counts, in pairs of blocks: 1 or 2.
        cta_group: Option<u8>,
    },
    /// Shared to global memory, in the thread's bulk group.
    Store {
        /// Mode.
        mode: StoreMode,
    },
    /// Shared memory combined into global memory, in the thread's bulk group.
    Reduce {
        /// Mode.
        mode: StoreMode,
        /// Operator.
        op: ReduceOp,
    },
    /// Global memory to L2.
    Prefetch {
        /// Mode.
        mode: LoadMode,
    },
}

/// The opcode of a tensor copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyOpcode {
    /// Dimensions that it names, 1 to 5.
    pub rank: u8,
    /// What it does.
    pub kind: CopyKind,
    /// Whether a cache policy follows.
    pub cache_hint: bool,
}

/// Why a text is no opcode of a tensor copy.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NotAnOpcode {
    /// Another qualifier belongs here.
    #[error("opcode {opcode} has {found} where {expected} belongs")]
    Qualifier {
        /// The whole text.
        opcode: String,
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// Qualifiers that each exist do not go together.
    #[error("opcode {opcode}: {why}")]
    Combination {
        /// The whole text.
        opcode: String,
        /// What does not go together, and what does.
        why: String,
    },
}

impl CopyOpcode {
    /// Whether four rows are named one by one: gather4 and scatter4.
    pub const fn four_rows(&self) -> bool {
        matches!(
            self.kind,
            CopyKind::Load {
                mode: LoadMode::Gather4,
                ..
            } | CopyKind::Store {
                mode: StoreMode::Scatter4
            } | CopyKind::Reduce {
                mode: StoreMode::Scatter4,
                ..
            } | CopyKind::Prefetch {
                mode: LoadMode::Gather4
            }
        )
    }

    /// Whether it completes on an mbarrier.
    pub const fn is_load(&self) -> bool {
        matches!(self.kind, CopyKind::Load { .. })
    }

    /// The mode's qualifier without its leading dot.
    pub const fn mode_name(&self) -> &'static str {
        match self.kind {
            CopyKind::Load { mode, .. } | CopyKind::Prefetch { mode } => mode.name(),
            CopyKind::Store { mode } | CopyKind::Reduce { mode, .. } => mode.name(),
        }
    }

    /// Reads an opcode.
    pub fn parse(text: &str) -> Result<CopyOpcode, NotAnOpcode> {
        let mut words = Words {
            opcode: text,
            rest: text.split('.').collect(),
        };
        words.take("cp")?;
        let reduces = words.one_of(&["async", "reduce"])? == "reduce";
        if reduces {
            words.take("async")?;
        }
        words.take("bulk")?;
        let prefetches = !reduces && words.one_of(&["tensor", "prefetch"])? == "prefetch";
        if prefetches || reduces {
            words.take("tensor")?;
        }
        let rank = words.one_of(&["1d", "2d", "3d", "4d", "5d"])?.as_bytes()[0] - b'0';
        let kind = if prefetches {
            words.take("L2")?;
            words.take("global")?;
            CopyKind::Prefetch {
                mode: words.load_mode(),
            }
        } else if reduces {
            words.take("global")?;
            words.take("shared::cta")?;
            let names = ReduceOp::ALL.map(ReduceOp::name);
            let at = words.one_of(&names)?;
            let op = ReduceOp::from_name(at);
            let mode = words.store_mode();
            words.take("bulk_group")?;
            CopyKind::Reduce {
                mode,
                op: op.unwrap_or(ReduceOp::Add),
            }
        } else {
            match words.one_of(&["shared::cta", "shared::cluster", "global"])? {
                "global" => {
                    words.take("shared::cta")?;
                    let mode = words.store_mode();
                    words.take("bulk_group")?;
                    CopyKind::Store { mode }
                }
                space => {
                    words.take("global")?;
                    let mode = words.load_mode();
                    words.take("mbarrier::complete_tx::bytes")?;
                    CopyKind::Load {
                        mode,
                        space: if space == "shared::cta" {
                            SharedSpace::Cta
                        } else {
                            SharedSpace::Cluster
                        },
                        report: Report::ALL.into_iter().find(|report| words.accept(report.name())),
                        multicast: MaskWidth::ALL.into_iter().find(|width| words.accept(width.name())),
                        cta_group: words.cta_group(),
                    }
                }
            }
        };
        let cache_hint = words.accept("L2::cache_hint");
        if let Some(extra) = words.rest.first() {
            if extra.starts_with("override::") {
                return Err(NotAnOpcode::Combination {
                    opcode: text.to_owned(),
                    why: format!(
                        ".{extra} takes an address of its own for every copy; write tile.tma.load, store, reduce or \
                         prefetch with override_address"
                    ),
                });
            }
            return Err(words.wrong(Some(extra), &["the end", ".L2::cache_hint"]));
        }
        let opcode = CopyOpcode { rank, kind, cache_hint };
        match opcode.combination() {
            None => Ok(opcode),
            Some(why) => Err(NotAnOpcode::Combination {
                opcode: text.to_owned(),
                why,
            }),
        }
    }

    /// Why rank, mode, space and modifiers do not go together.
    fn combination(&self) -> Option<String> {
        let (mode, rank) = (self.mode_name(), self.rank);
        if self.four_rows() && rank != 2 {
            return Some(format!(
                "{mode} needs a tensor of 2 dimensions, found {rank}; write .2d"
            ));
        }
        if mode.starts_with("im2col") && rank < 3 {
            return Some(format!(
                "{mode} needs a tensor of 3 to 5 dimensions, found {rank}; use .tile"
            ));
        }
        match self.kind {
            CopyKind::Load {
                space: SharedSpace::Cta,
                multicast: Some(_),
                ..
            } => Some(
                ".multicast::cluster writes to the blocks of a cluster, but .shared::cta names one; write .shared::cluster"
                    .to_owned(),
            ),
            CopyKind::Reduce {
                mode: StoreMode::Scatter4,
                ..
            } => Some("reductions have no tile::scatter4; reduce four rows with four copies".to_owned()),
            _ => None,
        }
    }
}

impl fmt::Display for CopyOpcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, mode) = (self.rank, self.mode_name());
        match self.kind {
            CopyKind::Load {
                space,
                report,
                multicast,
                cta_group,
                ..
            } => {
                let space = space.name();
                write!(
                    f,
                    "cp.async.bulk.tensor.{rank}d.{space}.global.{mode}.mbarrier::complete_tx::bytes"
                )?;
                for qualifier in [report.map(Report::name), multicast.map(MaskWidth::name)]
                    .into_iter()
                    .flatten()
                {
                    write!(f, ".{qualifier}")?;
                }
                if let Some(group) = cta_group {
                    write!(f, ".cta_group::{group}")?;
                }
            }
            CopyKind::Store { .. } => write!(f, "cp.async.bulk.tensor.{rank}d.global.shared::cta.{mode}.bulk_group")?,
            CopyKind::Reduce { op, .. } => {
                let op = op.name();
                write!(
                    f,
                    "cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}.{mode}.bulk_group"
                )?;
            }
            CopyKind::Prefetch { .. } => write!(f, "cp.async.bulk.prefetch.tensor.{rank}d.L2.global.{mode}")?,
        }
        if self.cache_hint {
            f.write_str(".L2::cache_hint")?;
        }
        Ok(())
    }
}

/// The words of an opcode that have not been read.
struct Words<'t> {
    opcode: &'t str,
    rest: Vec<&'t str>,
}

impl<'t> Words<'t> {
    fn wrong(&self, found: Option<&str>, expected: &[&str]) -> NotAnOpcode {
        let dotted = |word: &&str| match word.starts_with("the ") || word.starts_with('.') {
            true => (*word).to_owned(),
            false => format!(".{word}"),
        };
        let mut expected: Vec<String> = expected.iter().map(dotted).collect();
        let last = expected.pop().unwrap_or_default();
        NotAnOpcode::Qualifier {
            opcode: self.opcode.to_owned(),
            found: found.map_or("nothing".to_owned(), |word| format!(".{word}")),
            expected: match expected.is_empty() {
                true => last,
                false => format!("{} or {last}", expected.join(", ")),
            },
        }
    }
    fn accept(&mut self, word: &str) -> bool {
        let there = self.rest.first() == Some(&word);
        if there {
            self.rest.remove(0);
        }
        there
    }
    fn one_of(&mut self, words: &[&'static str]) -> Result<&'static str, NotAnOpcode> {
        let found = words.iter().find(|word| self.accept(word)).copied();
        found.ok_or_else(|| self.wrong(self.rest.first().copied(), words))
    }
    fn take(&mut self, word: &'static str) -> Result<(), NotAnOpcode> {
        self.one_of(&[word]).map(|_| ())
    }
    fn load_mode(&mut self) -> LoadMode {
        let given = LoadMode::ALL.into_iter().find(|mode| self.accept(mode.name()));
        given.unwrap_or(LoadMode::Tile)
    }
    fn store_mode(&mut self) -> StoreMode {
        let given = StoreMode::ALL.into_iter().find(|mode| self.accept(mode.name()));
        given.unwrap_or(StoreMode::Tile)
    }
    fn cta_group(&mut self) -> Option<u8> {
        match (self.accept("cta_group::1"), self.accept("cta_group::2")) {
            (true, _) => Some(1),
            (_, true) => Some(2),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<CopyOpcode> {
        let mut kinds = vec![];
        for mode in LoadMode::ALL {
            kinds.push(CopyKind::Prefetch { mode });
            for (space, report, multicast, cta_group) in [
                (SharedSpace::Cta, None, None, None),
                (SharedSpace::Cta, Some(Report::Disabled), None, Some(1)),
                (SharedSpace::Cluster, Some(Report::PerElementFf), None, None),
                (SharedSpace::Cluster, None, Some(MaskWidth::Plain), Some(2)),
                (SharedSpace::Cluster, None, Some(MaskWidth::B16), None),
                (
                    SharedSpace::Cluster,
                    Some(Report::Per16Bytes8),
                    Some(MaskWidth::B32),
                    Some(1),
                ),
            ] {
                kinds.push(CopyKind::Load {
                    mode,
                    space,
                    report,
                    multicast,
                    cta_group,
                });
            }
        }
        for mode in StoreMode::ALL {
            kinds.push(CopyKind::Store { mode });
            if mode != StoreMode::Scatter4 {
                kinds.extend(ReduceOp::ALL.map(|op| CopyKind::Reduce { mode, op }));
            }
        }
        let ranks = |kind| match (CopyOpcode {
            rank: 2,
            kind,
            cache_hint: false,
        }) {
            o if o.four_rows() => 2..=2,
            o if o.mode_name().starts_with("im2col") => 3..=5,
            _ => 1..=5,
        };
        let mut out = vec![];
        for kind in kinds {
            for rank in ranks(kind) {
                for cache_hint in [false, true] {
                    out.push(CopyOpcode { rank, kind, cache_hint });
                }
            }
        }
        out
    }

    #[test]
    fn every_opcode_reads_back() {
        for opcode in all() {
            assert_eq!(CopyOpcode::parse(&opcode.to_string()), Ok(opcode));
        }
    }

    #[test]
    fn the_mode_may_be_left_out() {
        for opcode in all() {
            let text = opcode.to_string();
            if let Some(short) = text.contains(".tile.").then(|| text.replacen(".tile", "", 1)) {
                assert_eq!(CopyOpcode::parse(&short), Ok(opcode), "{short}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_what_belongs_there() {
        let cases = [
            (
                "cp.async.bulk.tensor.6d.shared::cta.global.mbarrier::complete_tx::bytes",
                "has .6d where .1d, .2d, .3d, .4d or .5d belongs",
            ),
            (
                "cp.async.bulk.tensor.2d.global.shared::cta.tile.mbarrier::complete_tx::bytes",
                "has .mbarrier::complete_tx::bytes where .bulk_group belongs",
            ),
            (
                "cp.async.bulk.tensor.2d.shared::cta.global.tile",
                "has nothing where .mbarrier::complete_tx::bytes belongs",
            ),
            (
                "cp.async.bulk.tensor.3d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes",
                "tile::gather4 needs a tensor of 2 dimensions, found 3",
            ),
            (
                "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.multicast::cluster",
                "write .shared::cluster",
            ),
            (
                "cp.async.bulk.tensor.2d.L2.global",
                "has .L2 where .shared::cta, .shared::cluster or .global belongs",
            ),
            (
                "cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::evict_last",
                "has .L2::evict_last where the end or .L2::cache_hint belongs",
            ),
            (
                "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.override::global_address",
                "write tile.tma.load, store, reduce or prefetch with override_address",
            ),
            (
                "cp.reduce.async.bulk.tensor.2d.global.shared::cta.mul.bulk_group",
                "has .mul where",
            ),
        ];
        for (text, wanted) in cases {
            let said = CopyOpcode::parse(text).expect_err(text).to_string();
            assert!(said.contains(wanted), "{said}");
        }
    }
}
