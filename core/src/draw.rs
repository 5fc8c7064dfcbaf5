//! Random numbers for tests and for what is drawn: the same for the same seed, on every machine.
use std::ops::Range;

/// Random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// 64 random bits.
    #[allow(
        clippy::should_implement_trait,
        reason = "the name that the generator's authors use; it never ends"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
    /// From 0 to `n` - 1; 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    /// A number in the range, which is not empty.
    pub fn from(&mut self, range: Range<i64>) -> i64 {
        range.start + (self.next() % (range.end - range.start) as u64) as i64
    }
    /// From `low` to `high`, which is not less.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        self.from(low..high + 1)
    }
    /// True `n` times in `of`.
    pub fn chance(&mut self, n: usize, of: usize) -> bool {
        self.below(of) < n
    }
    /// An entry of the list, which is not empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    /// Puts the list in another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the published algorithm for seed 1234567.
    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut dice = Dice(1_234_567);
        let first = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([dice.next(), dice.next(), dice.next()], first);
    }
}
