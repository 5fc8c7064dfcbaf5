//! Elimination over F2. A matrix is a list of columns, each a word whose bit i is row i.

/// A basis of the span of some columns, in fully reduced form, each vector with the set of columns that sum to it. Columns
/// that bring nothing new take no part, so that solutions use the earliest columns that will do.
pub(super) struct Basis {
    /// (vector, columns). Each vector has a pivot bit, its highest, that no other vector has.
    vectors: Vec<(u64, u64)>,
    /// Columns in the span of those before them.
    pub free: u64,
    /// For each free column, the set of columns (itself included) that sums to 0: a basis of the kernel.
    pub kernel: Vec<u64>,
}

fn pivot(vector: u64) -> u64 {
    1 << (63 - vector.leading_zeros())
}

/// Dimension of the span of some columns.
pub(super) fn rank(columns: impl IntoIterator<Item = u64>) -> u32 {
    // By pivot.
    let mut basis = [0u64; 64];
    let mut rank = 0;
    for mut column in columns {
        while column != 0 {
            let own = &mut basis[63 - column.leading_zeros() as usize];
            if *own == 0 {
                *own = column;
                rank += 1;
                break;
            }
            column ^= *own;
        }
    }
    rank
}

impl Basis {
    pub fn new(columns: &[u64]) -> Basis {
        let mut basis = Basis {
            vectors: Vec::new(),
            free: 0,
            kernel: Vec::new(),
        };
        for (i, &column) in columns.iter().enumerate() {
            let (vector, used) = basis.reduce(column, 1 << i);
            if vector == 0 {
                basis.free |= 1 << i;
                basis.kernel.push(used);
                continue;
            }
            let bit = pivot(vector);
            for (other, columns) in &mut basis.vectors {
                if *other & bit != 0 {
                    *other ^= vector;
                    *columns ^= used;
                }
            }
            basis.vectors.push((vector, used));
        }
        basis
    }

    /// Subtracts basis vectors from `vector` until none of its bits is a pivot.
    fn reduce(&self, mut vector: u64, mut used: u64) -> (u64, u64) {
        for &(basis, columns) in &self.vectors {
            if vector & pivot(basis) != 0 {
                vector ^= basis;
                used ^= columns;
            }
        }
        (vector, used)
    }

    pub fn rank(&self) -> u32 {
        self.vectors.len() as u32
    }

    /// The set of columns that sums to `target`, without free ones; `None` where `target` is outside the span.
    pub fn solve(&self, target: u64) -> Option<u64> {
        let (rest, used) = self.reduce(target, 0);
        (rest == 0).then_some(used)
    }

    /// The set of columns that sums to `target` up to bits that are no pivots.
    pub fn solve_up_to_complement(&self, target: u64) -> u64 {
        self.reduce(target, 0).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(columns: &[u64], set: u64) -> u64 {
        columns
            .iter()
            .enumerate()
            .filter(|(i, _)| set >> i & 1 != 0)
            .fold(0, |sum, (_, column)| sum ^ column)
    }

    proptest! {
        #[test]
        fn solutions_solve_and_kernels_vanish(columns in proptest::collection::vec(0u64..64, 0..10), target in 0u64..64) {
            let basis = Basis::new(&columns);
            let reachable = (0..1u64 << columns.len()).any(|set| sum(&columns, set) == target);
            match basis.solve(target) {
                Some(set) => {
                    prop_assert_eq!(sum(&columns, set), target);
                    prop_assert_eq!(set & basis.free, 0);
                }
                None => prop_assert!(!reachable),
            }
            for &set in &basis.kernel {
                prop_assert!(set != 0 && sum(&columns, set) == 0);
            }
            prop_assert_eq!(basis.rank() as usize + basis.kernel.len(), columns.len());
        }
    }
}
