//! The mbarrier object (PTX ISA 9.4, "Parallel Synchronization and Communication Instructions: mbarrier") as a pure state
//! machine on its 8 bytes.
//!
//! A phase completes when no arrival is pending and the transaction count is zero; then the parity flips and as many
//! arrivals as expected are pending again. The transaction count may be negative for a while: bytes may arrive before they
//! are announced, as long as an arrival is pending.
//!
//! ```text
//! bits[0..20]  expected arrivals      bits[61] parity of the current phase
//! bits[20..40] pending arrivals       bits[62] the object is valid
//! bits[40..61] transaction count, two's complement
//! ```
//!
//! Every operation is a function from a barrier to a barrier, fit for `Bytes::update`. What PTX calls undefined is an error
//! in words.
use thiserror::Error;

/// Largest count of arrivals, and of bytes in flight: 2^20 - 1.
pub const MAX_COUNT: u32 = (1 << 20) - 1;

const COUNT_BITS: u32 = 20;
const TX_BITS: u32 = 21;
const TX_SHIFT: u32 = 2 * COUNT_BITS;
const PARITY_BIT: u32 = 61;
const VALID_BIT: u32 = 62;

/// Behaviour that PTX leaves undefined.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum BarrierError {
    /// No `mbarrier.init` before, or `mbarrier.inval`.
    #[error("this mbarrier is not initialised; use mbarrier.init, and let other threads see it before they use it")]
    NotInitialised,
    /// An arrival count out of range.
    #[error("arrival count {0}; mbarrier.init takes 1 to {MAX_COUNT}")]
    Count(u32),
    /// More arrivals than are pending.
    #[error(
        "{arriving} arrivals at an mbarrier with {pending} pending; raise the count of mbarrier.init or arrive once a phase"
    )]
    TooManyArrivals {
        /// Arrivals of this operation.
        arriving: u32,
        /// Arrivals that the phase still expects.
        pending: u32,
    },
    /// The transaction count leaves its range.
    #[error("transaction count {0} of an mbarrier; it holds -{MAX_COUNT} to {MAX_COUNT} bytes")]
    Transactions(i64),
    /// `.noComplete` that completes the phase.
    #[error("mbarrier.arrive.noComplete completes the phase; use mbarrier.arrive")]
    Completes,
}

/// The state of one barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    expected: u32,
    pending: u32,
    transactions: i32,
    parity: bool,
}

/// What `mbarrier.arrive` returns: the phase it arrived in, and the arrivals that were pending before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(u64);

impl Token {
    /// The 64 bits that the instruction gives.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The token that a program passes back.
    pub fn from_bits(bits: u64) -> Token {
        Token(bits)
    }

    /// `mbarrier.pending_count`.
    pub fn pending_count(self) -> u32 {
        (self.0 & u64::from(MAX_COUNT)) as u32
    }

    fn parity(self) -> bool {
        self.0 >> PARITY_BIT & 1 != 0
    }
}

impl Barrier {
    /// `mbarrier.init`.
    pub fn init(count: u32) -> Result<Barrier, BarrierError> {
        if !(1..=MAX_COUNT).contains(&count) {
            return Err(BarrierError::Count(count));
        }
        Ok(Barrier {
            expected: count,
            pending: count,
            transactions: 0,
            parity: false,
        })
    }

    /// The barrier that 8 bytes in memory hold; an error where none was initialised or `mbarrier.inval` (zero bytes) ended it.
    pub fn from_bits(bits: u64) -> Result<Barrier, BarrierError> {
        if bits >> VALID_BIT != 1 {
            return Err(BarrierError::NotInitialised);
        }
        let count = |shift: u32| (bits >> shift) as u32 & MAX_COUNT;
        // The sign of the transaction count, moved to the top and back.
        let transactions = (((bits >> TX_SHIFT) as u32) << (32 - TX_BITS)) as i32 >> (32 - TX_BITS);
        Ok(Barrier {
            expected: count(0),
            pending: count(COUNT_BITS),
            transactions,
            parity: bits >> PARITY_BIT & 1 != 0,
        })
    }

    /// The 8 bytes.
    pub fn to_bits(self) -> u64 {
        u64::from(self.expected)
            | u64::from(self.pending) << COUNT_BITS
            | (u64::from(self.transactions as u32) & ((1 << TX_BITS) - 1)) << TX_SHIFT
            | u64::from(self.parity) << PARITY_BIT
            | 1 << VALID_BIT
    }

    /// Arrivals that a phase takes.
    pub fn expected(self) -> u32 {
        self.expected
    }

    /// Parity of the current phase.
    pub fn parity(self) -> bool {
        self.parity
    }

    /// Arrivals that the current phase waits for.
    pub fn pending(self) -> u32 {
        self.pending
    }

    /// Bytes that the current phase waits for; negative where more came than were announced.
    pub fn transactions(self) -> i32 {
        self.transactions
    }

    /// `mbarrier.expect_tx`.
    pub fn expect_tx(self, bytes: u32) -> Result<Barrier, BarrierError> {
        self.add_transactions(bytes.into())
    }

    /// `mbarrier.complete_tx`, and what an asynchronous copy does when its bytes are there.
    pub fn complete_tx(self, bytes: u32) -> Result<Barrier, BarrierError> {
        self.add_transactions(-i64::from(bytes))
    }

    fn add_transactions(self, bytes: i64) -> Result<Barrier, BarrierError> {
        let transactions = i64::from(self.transactions) + bytes;
        if transactions.unsigned_abs() > MAX_COUNT.into() {
            return Err(BarrierError::Transactions(transactions));
        }
        Ok(Barrier {
            transactions: transactions as i32,
            ..self
        }
        .settle())
    }

    /// `mbarrier.arrive` with a count (1 by default); 0 arrivals are legal and change nothing.
    pub fn arrive(self, count: u32) -> Result<(Barrier, Token), BarrierError> {
        if count > self.pending {
            return Err(BarrierError::TooManyArrivals {
                arriving: count,
                pending: self.pending,
            });
        }
        let token = Token(u64::from(self.pending) | u64::from(self.parity) << PARITY_BIT);
        Ok((
            Barrier {
                pending: self.pending - count,
                ..self
            }
            .settle(),
            token,
        ))
    }

    /// `mbarrier.arrive.expect_tx`: announces bytes, then arrives.
    pub fn arrive_expect_tx(self, bytes: u32, count: u32) -> Result<(Barrier, Token), BarrierError> {
        self.expect_tx(bytes)?.arrive(count)
    }

    /// `mbarrier.arrive_drop`: arrives, and later phases expect as many arrivals less.
    pub fn arrive_drop(self, count: u32) -> Result<(Barrier, Token), BarrierError> {
        let expected = self.expected.saturating_sub(count);
        Barrier { expected, ..self }.arrive(count)
    }

    /// `mbarrier.arrive.noComplete`, and with `drop` `mbarrier.arrive_drop.noComplete`.
    pub fn arrive_no_complete(self, count: u32, drop: bool) -> Result<(Barrier, Token), BarrierError> {
        let (after, token) = if drop {
            self.arrive_drop(count)?
        } else {
            self.arrive(count)?
        };
        if after.parity == self.parity {
            Ok((after, token))
        } else {
            Err(BarrierError::Completes)
        }
    }

    /// `mbarrier.test_wait` with a token: whether its phase is over.
    pub fn is_complete(self, token: Token) -> bool {
        self.parity != token.parity()
    }

    /// `mbarrier.test_wait.parity`: whether the phase of this parity is over, the current one having the other. A fresh
    /// barrier is in the phase of parity 0, so that parity 1 is over at once.
    pub fn is_complete_parity(self, parity: bool) -> bool {
        self.parity != parity
    }

    /// Ends the phase where nothing is awaited.
    fn settle(self) -> Barrier {
        if self.pending == 0 && self.transactions == 0 {
            Barrier {
                pending: self.expected,
                parity: !self.parity,
                ..self
            }
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_memory() {
        let barrier = Barrier::init(MAX_COUNT).unwrap();
        let states = [
            barrier,
            barrier.complete_tx(MAX_COUNT).unwrap(),
            barrier.expect_tx(MAX_COUNT).unwrap(),
            Barrier::init(1).unwrap().arrive(1).unwrap().0,
        ];
        for state in states {
            assert_eq!(Barrier::from_bits(state.to_bits()), Ok(state));
        }
        assert_eq!(Barrier::from_bits(0), Err(BarrierError::NotInitialised));
        assert_eq!(Barrier::from_bits(u64::MAX), Err(BarrierError::NotInitialised));
    }

    #[test]
    fn a_phase_ends_when_arrivals_and_bytes_are_there() {
        let barrier = Barrier::init(2).unwrap();
        assert!(barrier.is_complete_parity(true) && !barrier.is_complete_parity(false));
        let (barrier, token) = barrier.arrive_expect_tx(1024, 1).unwrap();
        assert_eq!(token.pending_count(), 2);
        let (barrier, _) = barrier.arrive(1).unwrap();
        assert!(!barrier.is_complete(token) && barrier.pending() == 0);
        let barrier = barrier.complete_tx(1000).unwrap();
        assert!(!barrier.is_complete(token));
        let barrier = barrier.complete_tx(24).unwrap();
        assert!(barrier.is_complete(token) && barrier.is_complete_parity(false) && !barrier.is_complete_parity(true));
        assert_eq!((barrier.pending(), barrier.transactions()), (2, 0));
    }

    #[test]
    fn bytes_may_come_before_they_are_announced() {
        let barrier = Barrier::init(1).unwrap().complete_tx(64).unwrap();
        assert_eq!(barrier.transactions(), -64);
        let (barrier, token) = barrier.arrive_expect_tx(64, 1).unwrap();
        assert!(barrier.is_complete(token));
    }

    #[test]
    fn dropped_arrivals_are_not_expected_again() {
        let (barrier, _) = Barrier::init(3).unwrap().arrive_drop(2).unwrap();
        let (barrier, token) = barrier.arrive(1).unwrap();
        assert!(barrier.is_complete(token));
        assert_eq!(barrier.pending(), 1);
    }

    #[test]
    fn undefined_behaviour_is_told() {
        let barrier = Barrier::init(1).unwrap();
        assert_eq!(Barrier::init(0), Err(BarrierError::Count(0)));
        assert_eq!(
            barrier.arrive(2),
            Err(BarrierError::TooManyArrivals {
                arriving: 2,
                pending: 1
            })
        );
        assert_eq!(barrier.arrive_no_complete(1, false), Err(BarrierError::Completes));
        assert_eq!(barrier.expect_tx(1 << 20), Err(BarrierError::Transactions(1 << 20)));
    }
}
