//! The instructions that the checks remember accesses by, and how they are put into words.
use crate::isa::Scope;
use std::collections::BTreeMap;
use std::fmt;

/// What accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// A thread, by a load, a store or an atomic operation.
    Thread,
    /// A thread, at an mbarrier.
    Mbarrier,
    /// A bulk or tensor copy, at the mbarrier that it signals.
    Signal,
    /// `cp.async`, `st.async`, `red.async`
    Copy,
    /// `cp.async.bulk`
    Bulk,
    /// `cp.async.bulk.tensor`
    Tensor,
    /// `wgmma`
    Product,
    /// The copy engine, of a tensor map.
    TensorMap,
}

/// An instruction with what it does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// Line of the PTX text.
    pub line: u32,
    /// What does it.
    pub actor: Actor,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is a strong operation, and towards whom.
    pub strong: Option<Scope>,
}

impl Site {
    /// Whether it is an operation on an mbarrier.
    pub fn is_mbarrier(&self) -> bool {
        matches!(self.actor, Actor::Mbarrier | Actor::Signal)
    }

    /// Whether it goes through the asynchronous proxy.
    pub fn is_async_proxy(&self) -> bool {
        matches!(self.actor, Actor::Bulk | Actor::Tensor | Actor::Product)
    }

    /// What a person calls it.
    pub fn verb(&self) -> Verb {
        Verb(*self)
    }
}

/// The words for a [`Site`].
pub struct Verb(Site);

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.actor {
            Actor::Thread => "",
            Actor::Mbarrier => "an mbarrier operation ",
            Actor::Signal => "a copy's signal ",
            Actor::Copy => "an asynchronous copy ",
            Actor::Bulk => "a bulk copy ",
            Actor::Tensor => "a tensor copy ",
            Actor::Product => "a wgmma ",
            Actor::TensorMap => "the copy engine ",
        })?;
        f.write_str(match (self.0.reads, self.0.writes) {
            (true, true) => "updates",
            (false, true) => "writes",
            _ => "reads",
        })
    }
}

/// All sites by number.
#[derive(Debug, Default)]
pub struct Sites {
    list: Vec<Site>,
    numbers: BTreeMap<Site, u32>,
}

impl Sites {
    /// The number of a site.
    pub fn number(&mut self, site: Site) -> u32 {
        *self.numbers.entry(site).or_insert_with(|| {
            self.list.push(site);
            self.list.len() as u32 - 1
        })
    }

    /// The site of a number.
    pub fn get(&self, number: u32) -> Site {
        self.list[number as usize]
    }
}
