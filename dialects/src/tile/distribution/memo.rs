//! Layouts that have been computed, by what an encoding says: the same few layouts are asked about for every op.
use super::{Blocked, Distribution, Linear, Sliced, computed};
use girih_core::layout::LinearLayout;
use girih_ir::prelude::*;
use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

/// How many are kept; a kernel has fewer.
const MOST: usize = 512;

/// What an encoding says, without its context.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Blocked([Vec<i64>; 4]),
    Linear([Vec<i64>; 3]),
    Sliced(i64, Box<Key>),
}

impl Key {
    fn of(encoding: Attribute<'_>) -> Option<Key> {
        if let Some(b) = Blocked::of(encoding) {
            return Some(Key::Blocked([b.per_thread(), b.lanes(), b.warps(), b.order()]));
        }
        if let Some(s) = Sliced::of(encoding) {
            return Some(Key::Sliced(s.axis(), Box::new(Key::of(s.parent())?)));
        }
        let l = Linear::of(encoding)?;
        Some(Key::Linear([l.register(), l.lane(), l.warp()]))
    }
}

/// What is known of an encoding on tiles of one shape.
pub(super) struct Known {
    linear: Option<LinearLayout>,
    shape: Vec<i64>,
    /// Computed when it is first asked for: it lists registers, of which a tile can have too many.
    distribution: OnceCell<Option<Rc<Distribution>>>,
}

impl Known {
    pub(super) fn linear(&self) -> Option<&LinearLayout> {
        self.linear.as_ref()
    }
    pub(super) fn distribution(&self) -> Option<Rc<Distribution>> {
        let compute = || Distribution::of_linear(self.linear()?, &self.shape).map(Rc::new);
        self.distribution.get_or_init(compute).clone()
    }
}

/// What is known, by layout and shape.
type ByLayout = BTreeMap<(Key, Vec<i64>), Rc<Known>>;

thread_local! {
    static KNOWN: RefCell<ByLayout> = const { RefCell::new(BTreeMap::new()) };
}

/// What is known of `encoding` on a tile of `shape`; `None` for other encodings.
pub(super) fn known(encoding: Attribute<'_>, shape: &[i64]) -> Option<Rc<Known>> {
    let key = (Key::of(encoding)?, shape.to_vec());
    if let Some(found) = KNOWN.with_borrow(|known| known.get(&key).cloned()) {
        return Some(found);
    }
    // Not under the borrow: a slice asks for its parent.
    let found = Rc::new(Known {
        linear: computed(encoding, shape),
        shape: shape.to_vec(),
        distribution: OnceCell::new(),
    });
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, Rc::clone(&found));
    });
    Some(found)
}
