//! What is said of threads that spin, or run until the limit: what they read, and that nobody is left to change it.
use super::{Threads, Told, View};
use crate::exec::lanes;
use crate::exec::spin::Look;
use crate::isa::Space;
use std::collections::BTreeSet;

/// Words that are named; more are counted.
const MOST_WORDS: usize = 4;

impl View<'_> {
    /// A group that repeats itself.
    pub(super) fn tell_spin(&self, threads: &Threads) -> Told {
        let others_read = || self.cluster.spin.as_ref().is_some_and(|spin| spin.has_looks());
        let (text, remedy) = match self.words(threads) {
            None if others_read() => {
                return Told {
                    text: ", going round with threads that wait for memory to change".to_owned(),
                    remedies: Vec::new(),
                    doubt: 1,
                    mistake: None,
                };
            }
            None => (
                ", in a loop that reads no memory and changes nothing".to_owned(),
                "give the loop an end: its condition never changes",
            ),
            Some(words) => (
                format!(", waiting for {words} to change; nobody is left to write there"),
                "let a thread that neither waits nor has exited write what is waited for; one that waits at a barrier, or in a \
                 block that begins later, comes too late",
            ),
        };
        Told {
            text,
            remedies: vec![remedy.to_owned()],
            doubt: 0,
            mistake: None,
        }
    }

    /// A group that runs when the launch has no instructions left.
    pub(super) fn tell_running(&self, threads: &Threads) -> Told {
        let read = self
            .words(threads)
            .map(|words| format!("; read last: {}", words.trim_end_matches(',')));
        Told {
            text: read.unwrap_or_default(),
            remedies: Vec::new(),
            doubt: 2,
            mistake: None,
        }
    }

    /// The words that threads were seen to read, the first of them by their values.
    fn words(&self, threads: &Threads) -> Option<String> {
        let spin = self.cluster.spin.as_ref();
        let of = |(rank, warp): (usize, usize), l: usize| spin.into_iter().flat_map(move |s| s.looks(rank, warp, l));
        let all = threads
            .iter()
            .flat_map(|(at, mask)| lanes(*mask).flat_map(move |l| of(*at, l)));
        // Two instructions that read one word are said once.
        let words: BTreeSet<Look> = all.map(|look| Look { line: 0, ..look }).collect();
        let shown: Vec<String> = words.iter().take(MOST_WORDS).map(|look| self.word(look)).collect();
        let more = match words.len().saturating_sub(MOST_WORDS) {
            0 => String::new(),
            more => format!(" or one of {more} words more"),
        };
        (!shown.is_empty()).then(|| format!("{}{more}", shown.join(" or ")))
    }

    /// A word in memory with its value: `the 4 bytes at global address 0x7f0000000000 (0 bytes into its allocation), value 0x1,`.
    fn word(&self, look: &Look) -> String {
        let (space, inside) = match look.space {
            Space::Shared => ("shared", None),
            _ => ("global", self.grid.memory.view(look.address)),
        };
        let inside = inside.map_or(String::new(), |view| {
            format!(" ({} bytes into its allocation)", look.address - view.base)
        });
        format!(
            "the {} bytes at {space} address {:#x}{inside}, value {:#x},",
            look.bytes, look.address, look.value
        )
    }
}
