//! What the checks remember of memory: who wrote each piece of it last, and who read it since.
//!
//! Memory is divided into pages, and a page into cells of equal size: 16 bytes at first, less once an access begins or ends
//! inside a cell. So a cell's bytes have always been accessed together, and one record is exact for all of them.
use super::clock::Track;
use crate::ranges::Ranges;

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 512;
/// Bytes of a cell before anything narrower was seen.
const WIDEST: u64 = 16;
/// Records beside the last write that a cell keeps; the oldest goes when there are more.
const MOST: usize = 48;

/// One access in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Whose time it was.
    pub track: Track,
    /// Lanes of the track that did it.
    pub lanes: u32,
    /// The time at which it happened, or will have happened.
    pub time: u32,
    /// The instruction, by number (see [`super::site`]).
    pub site: u32,
}

/// What is known of a cell's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing wrote them.
    Fresh,
    /// They were there before the launch.
    Old,
    /// The last write of this launch that excludes others; atomics are among the rest.
    Written(Mark),
}

/// The records of one cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The last write.
    pub content: Content,
    /// Reads and atomic operations since; of each pair that is ordered and alike, the later.
    pub rest: Vec<Mark>,
}

impl Cell {
    /// Adds a record that excludes no other, in place of one that it makes superfluous.
    pub fn add(&mut self, mark: Mark) {
        let rest = &mut self.rest;
        for old in rest.iter_mut() {
            if old.track != mark.track || old.site != mark.site {
                continue;
            }
            if old.time == mark.time {
                old.lanes |= mark.lanes;
                return;
            }
            if old.lanes & !mark.lanes == 0 {
                *old = mark;
                return;
            }
        }
        if rest.len() >= MOST {
            rest.remove(0);
        }
        rest.push(mark);
    }
}

#[derive(Debug)]
struct Page {
    /// Bytes of a cell.
    cell_bytes: u64,
    cells: Vec<Cell>,
}

impl Page {
    fn split(&mut self, cell_bytes: u64) {
        let times = (self.cell_bytes / cell_bytes) as usize;
        let wide = std::mem::take(&mut self.cells);
        self.cells = wide
            .into_iter()
            .flat_map(|cell| std::iter::repeat_n(cell, times))
            .collect();
        self.cell_bytes = cell_bytes;
    }
}

/// The records of one piece of memory.
#[derive(Debug, Default)]
pub struct Shadow {
    bytes: u64,
    pages: Vec<Option<Box<Page>>>,
    /// Ranges that were there before the launch, sorted and apart.
    old: Ranges,
}

impl Shadow {
    /// Records of `bytes` bytes, of which `old` were written before the launch.
    pub fn new(bytes: u64, old: Ranges) -> Self {
        Shadow {
            bytes,
            pages: Vec::new(),
            old,
        }
    }

    /// Gives each cell of a range to `f`, with the offset of its first byte and its size. What lies outside is left out.
    pub fn visit(&mut self, start: u64, bytes: u64, mut f: impl FnMut(&mut Cell, u64, u64)) {
        let end = start.saturating_add(bytes).min(self.bytes);
        let mut at = start;
        while at < end {
            let (page, from) = (at / PAGE_BYTES, at % PAGE_BYTES);
            let to = (end - page * PAGE_BYTES).min(PAGE_BYTES);
            let first = page * PAGE_BYTES;
            let page = self.page(page as usize);
            // The largest power of two that both ends are multiples of.
            let fits = 1 << (from | to | WIDEST).trailing_zeros();
            if fits < page.cell_bytes {
                page.split(fits);
            }
            let size = page.cell_bytes;
            let cells = &mut page.cells[(from / size) as usize..(to / size) as usize];
            for (i, cell) in cells.iter_mut().enumerate() {
                f(cell, first + from + i as u64 * size, size);
            }
            at = first + to;
        }
    }

    fn page(&mut self, index: usize) -> &mut Page {
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, || None);
        }
        let (start, old) = (index as u64 * PAGE_BYTES, &self.old);
        self.pages[index].get_or_insert_with(|| {
            let inside = old.within(start, start + PAGE_BYTES);
            let edges = inside.iter().fold(WIDEST, |edges, (a, b)| edges | a | b);
            let cell_bytes = 1 << edges.trailing_zeros();
            let content = |at: u64| {
                let known = inside.iter().any(|(a, b)| (*a..*b).contains(&at));
                if known { Content::Old } else { Content::Fresh }
            };
            let cells = (0..PAGE_BYTES / cell_bytes).map(|i| Cell {
                content: content(start + i * cell_bytes),
                rest: Vec::new(),
            });
            Box::new(Page {
                cell_bytes,
                cells: cells.collect(),
            })
        })
    }

    /// What has been written by now, before or in the launch.
    pub fn written(&self) -> Ranges {
        let mut written = self.old.clone();
        for (index, page) in self.pages.iter().enumerate() {
            let Some(page) = page else { continue };
            for (i, cell) in page.cells.iter().enumerate() {
                if cell.content != Content::Fresh {
                    let start = index as u64 * PAGE_BYTES + i as u64 * page.cell_bytes;
                    written.insert(start, (start + page.cell_bytes).min(self.bytes));
                }
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_narrow_as_the_narrowest_access_of_their_page() {
        let mut old = Ranges::default();
        old.insert(0, 600);
        let mut shadow = Shadow::new(1000, old);
        let sizes = |shadow: &mut Shadow, start, bytes| {
            let mut seen = Vec::new();
            shadow.visit(start, bytes, |cell, at, size| seen.push((at, size, cell.content)));
            seen
        };
        assert_eq!(sizes(&mut shadow, 496, 16), [(496, 16, Content::Old)]);
        assert_eq!(
            sizes(&mut shadow, 508, 8),
            [(508, 4, Content::Old), (512, 4, Content::Old)]
        );
        assert_eq!(
            sizes(&mut shadow, 592, 16),
            [(592, 4), (596, 4), (600, 4), (604, 4)].map(|(at, size)| {
                let content = if at < 600 { Content::Old } else { Content::Fresh };
                (at, size, content)
            })
        );
        assert!(sizes(&mut shadow, 1000, 16).is_empty());
    }
}
