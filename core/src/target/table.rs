//! The legality table for readers: every feature once, in sections, with the cell of each target.
use super::{Feature, Op, PtxVersion, Target};
use crate::tensor_map::{Caps, Format, Swizzle};

/// A part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// What users type to see it alone, such as `tma.load`.
    pub name: &'static str,
    /// A line about it.
    pub title: &'static str,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it stands.
    pub section: Section,
    /// Mode, space and modifiers; for instructions their name.
    pub name: String,
    /// Element formats, where the row is for some only.
    pub types: Vec<Format>,
    /// What is asked of a target.
    pub feature: Feature,
}

const fn section(name: &'static str, title: &'static str) -> Section {
    Section { name, title }
}

const LOAD: Section = section("tma.load", "cp.async.bulk.tensor, global to shared");
const STORE: Section = section("tma.store", "cp.async.bulk.tensor, shared to global");
const REDUCE: Section = section(
    "tma.reduce",
    "cp.reduce.async.bulk.tensor, by the types of the tensor map",
);
const PREFETCH: Section = section("tma.prefetch", "cp.async.bulk.prefetch.tensor");

/// Sections of all other instructions, each with the first op of it: [`Op`] lists them section by section.
const OPS: [(Op, Section); 8] = [
    (
        Op::BulkLoadCluster,
        section("bulk", "copies without a tensor map, and what goes with copies"),
    ),
    (Op::TensorMapReplace, section("tensormap", "tensor maps on the device")),
    (Op::MbarrierInit, section("mbarrier", "barriers in shared memory")),
    (Op::FenceProxyAsync, section("fence", "fences")),
    (Op::ClusterBarrier, section("cluster", "clusters and grids")),
    (Op::ElectSync, section("warp", "warps and warpgroups")),
    (Op::MmaF16, section("mma", "matrices")),
    (
        Op::CvtBf16,
        section("math", "conversions, arithmetic and wide accesses"),
    ),
];

impl Section {
    /// Every section, in the order of the table.
    pub fn all() -> impl Iterator<Item = Section> {
        [LOAD, STORE, REDUCE, PREFETCH]
            .into_iter()
            .chain(OPS.map(|(_, section)| section))
    }

    fn of(feature: Feature) -> Section {
        match feature {
            Feature::TmaLoad { .. } => LOAD,
            Feature::TmaStore(_) => STORE,
            Feature::TmaReduce { .. } => REDUCE,
            Feature::TmaPrefetch(_) => PREFETCH,
            Feature::Op(op) => {
                let last = OPS.iter().rev().find(|(first, _)| *first <= op);
                last.map_or(OPS[0].1, |(_, section)| *section)
            }
        }
    }
}

impl Row {
    /// Every row, section by section.
    pub fn all() -> Vec<Row> {
        Feature::all().into_iter().map(Row::of).collect()
    }

    fn of(feature: Feature) -> Row {
        let mut types = Vec::new();
        let name = match feature {
            Feature::TmaLoad {
                mode,
                space,
                multicast,
                cta_group,
            } => {
                let mut name = format!(".{} to {}", mode.name(), space.name());
                for (on, modifier) in [(multicast, ", multicast"), (cta_group, ", cta_group")] {
                    name.push_str(if on { modifier } else { "" });
                }
                name
            }
            Feature::TmaStore(mode) => format!(".{}", mode.name()),
            Feature::TmaReduce { mode, op, .. } => {
                types = op.formats().to_vec();
                format!(".{} .{}", op.name(), mode.name())
            }
            Feature::TmaPrefetch(mode) => format!(".{}", mode.name()),
            Feature::Op(op) => op.name().to_owned(),
        };
        Row {
            section: Section::of(feature),
            name,
            types,
            feature,
        }
    }

    /// The PTX version from which `target` has it; `None` where it has not.
    pub fn cell(&self, target: Target) -> Option<PtxVersion> {
        self.feature.legal(target).ok()
    }

    /// Whether a word that a user typed means this row: the name of its section, or a part of its own name.
    pub fn matches(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        let qualified = format!("{} {}", self.section.name, self.name).to_ascii_lowercase();
        match Section::all().any(|section| section.name == word) {
            true => self.section.name == word,
            false => qualified.contains(&word),
        }
    }
}

/// What tensor maps hold on some targets only.
#[derive(Clone, Debug)]
pub struct MapField {
    /// Field and value, such as `swizzle 96`.
    pub name: String,
    /// Whether they hold it with these capabilities.
    pub has: fn(&Caps) -> bool,
}

/// Every format, swizzle and mode that not all targets have, and their neighbours.
pub fn map_fields() -> Vec<MapField> {
    let field = |name: String, has: fn(&Caps) -> bool| MapField { name, has };
    let formats = Format::ALL.into_iter().filter(|format| format.is_sub_byte());
    let mut all: Vec<MapField> = formats
        .map(|format| field(format!("format {}", format.name()), |caps| caps.sub_byte))
        .collect();
    for swizzle in Swizzle::ALL {
        let has: fn(&Caps) -> bool = match swizzle {
            Swizzle::B96 => |caps| caps.swizzle_96,
            _ if swizzle.atom_bytes() != 16 => |caps| caps.swizzle_atoms,
            _ => |_| true,
        };
        all.push(field(format!("swizzle {}", swizzle.name()), has));
    }
    all.push(field("mode im2col".into(), |_| true));
    all.push(field("mode im2col along W".into(), |caps| caps.im2col_wide));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{LoadMode, SharedSpace};

    #[test]
    fn every_feature_has_one_row_in_the_order_of_the_sections() {
        let rows = Row::all();
        assert_eq!(rows.len(), Feature::all().len());
        let order: Vec<_> = Section::all().map(|section| section.name).collect();
        let place = |row: &Row| {
            order
                .iter()
                .position(|name| *name == row.section.name)
                .expect("a section")
        };
        assert!(rows.windows(2).all(|pair| place(&pair[0]) <= place(&pair[1])));
        for name in &order {
            let of = rows.iter().filter(|row| row.section.name == *name);
            assert!(of.count() > 0, "section {name} is empty");
        }
    }

    #[test]
    fn ops_stand_in_the_section_that_their_names_promise() {
        for (start, name) in [
            ("mbarrier.", "mbarrier"),
            ("fence.proxy.async", "fence"),
            ("wgmma", "mma"),
            ("cvt", "math"),
            ("tensormap.replace", "tensormap"),
            ("setmaxnreg", "warp"),
            ("st.async", "cluster"),
        ] {
            for row in Row::all().iter().filter(|row| row.name.starts_with(start)) {
                assert_eq!(row.section.name, name, "{}", row.name);
            }
        }
    }

    #[test]
    fn cells_are_the_answers_of_the_table() {
        let rows = Row::all();
        let find = |name: &str| rows.iter().find(|row| row.name == name).expect("a row");
        let target = |name: &str| Target::parse(name).expect("a target");
        let gather = find(".tile::gather4 to shared::cta");
        assert_eq!(
            (gather.cell(target("sm_90a")), gather.cell(target("sm_100"))),
            (None, Some(PtxVersion(8, 6)))
        );
        assert_eq!(
            gather.feature,
            Feature::TmaLoad {
                mode: LoadMode::Gather4,
                space: SharedSpace::Cta,
                multicast: false,
                cta_group: false
            }
        );
        assert_eq!(find(".inc .tile").types, [Format::U32]);
    }

    #[test]
    fn words_find_sections_and_names() {
        let count = |word: &str| Row::all().iter().filter(|row| row.matches(word)).count();
        assert_eq!(count("tma.store"), 4);
        // A section's name means the section alone, not `tma.reduce` or `mma.sync` elsewhere.
        assert!(
            Row::all()
                .iter()
                .filter(|row| row.matches("mma"))
                .all(|row| row.section.name == "mma")
        );
        assert!(count("GATHER4") > 2 && count("wgmma") == 6);
        assert_eq!(count("teleport"), 0);
    }

    #[test]
    fn fields_of_maps_follow_the_capabilities() {
        let fields = map_fields();
        let on = |caps: &Caps| fields.iter().filter(|field| (field.has)(caps)).count();
        assert!(on(&Caps::SM_90) < on(&Caps::SM_100) && on(&Caps::SM_100) < on(&Caps::SM_103));
        assert_eq!(on(&Caps::SM_103), fields.len());
    }
}
