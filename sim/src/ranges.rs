//! Sets of bytes as ranges.

/// Ranges of bytes, `start..end`, sorted and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds a range.
    pub fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let from = self.0.partition_point(|(_, b)| *b < start);
        let to = self.0.partition_point(|(a, _)| *a <= end);
        let (mut start, mut end) = (start, end);
        if from < to {
            start = start.min(self.0[from].0);
            end = end.max(self.0[to - 1].1);
        }
        self.0.splice(from..to, [(start, end)]);
    }

    /// The ranges as far as they lie between two addresses.
    pub fn within(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let from = self.0.partition_point(|(_, b)| *b <= start);
        let inside = self.0[from..].iter().take_while(|(a, _)| *a < end);
        inside.map(|(a, b)| (*a.max(&start), *b.min(&end))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut ranges = Ranges::default();
        for (start, end) in [(8, 12), (0, 4), (4, 8), (20, 30), (25, 40), (50, 50)] {
            ranges.insert(start, end);
        }
        assert_eq!(ranges.0, [(0, 12), (20, 40)]);
        assert_eq!(ranges.within(10, 22), [(10, 12), (20, 22)]);
    }
}
