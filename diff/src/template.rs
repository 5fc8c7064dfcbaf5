//! SPECs with open sizes: `A=randn:bf16[M,K]` with `M=1..300,K=8..256:8`.
//!
//! A name stands for its number inside the brackets and parentheses of a SPEC, and as the value of a number (`i32:M`).
//! Names begin with a capital letter, so that none is one of a SPEC's own words.
use girih_runtime::{run::Named, spec::Spec};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};
use std::{collections::BTreeMap, str::FromStr};

/// The numbers that one name may stand for: `low`, `low + step`, ... up to `high`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Name in the SPECs.
    pub name: String,
    /// Smallest.
    pub low: u64,
    /// Largest, if the step reaches it.
    pub high: u64,
    /// At least 1.
    pub step: u64,
}

impl FromStr for Range {
    type Err = String;
    /// `M=64`, `M=1..300` or `K=8..256:8`, both ends included.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected NAME=LOW..HIGH or NAME=LOW..HIGH:STEP, such as K=8..256:8; found `{text}`");
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) || !name.chars().all(is_word) {
            return Err(format!(
                "expected a name that begins with a capital letter, such as M; found `{name}`"
            ));
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        let (ends, step) = match rest.split_once(':') {
            Some((ends, step)) => (ends, number(step)?),
            None => (rest, 1),
        };
        let (low, high) = match ends.split_once("..") {
            Some((low, high)) => (number(low)?, number(high)?),
            None => (number(ends)?, number(ends)?),
        };
        if low > high || step == 0 {
            return Err(format!(
                "{name} has no value: from {low} to {high} in steps of {step}; give LOW..HIGH with LOW not above HIGH, and \
                 a step of 1 or more"
            ));
        }
        Ok(Range {
            name: name.to_owned(),
            low,
            high,
            step,
        })
    }
}

/// The numbers of one round.
pub type Sizes = BTreeMap<String, u64>;

/// Draws a number for each name; the same on every machine for the same seed.
pub fn draw(ranges: &[Range], seed: u64) -> Sizes {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut one = |range: &Range| {
        let last = (range.high - range.low) / range.step;
        let drawn = rng.next_u64();
        let index = last.checked_add(1).map_or(drawn, |count| drawn % count);
        (range.name.clone(), range.low + index * range.step)
    };
    ranges.iter().map(&mut one).collect()
}

/// `NAME=SPEC` whose SPEC may hold open sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(String);

impl FromStr for Template {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, _)) if !name.is_empty() => Ok(Template(text.to_owned())),
            _ => Err(format!("expected NAME=SPEC, found `{text}`")),
        }
    }
}

impl Template {
    /// Whether the name of an open size is in it.
    pub fn uses(&self, name: &str) -> bool {
        self.words().any(|(_, word, open)| open && word == name)
    }

    /// The text with the numbers in place of their names.
    pub fn fill(&self, sizes: &Sizes) -> String {
        self.words()
            .map(|(_, word, open)| match sizes.get(word) {
                Some(size) if open => size.to_string(),
                _ => word.to_owned(),
            })
            .collect()
    }

    /// The argument with its numbers.
    pub fn resolve(&self, sizes: &Sizes) -> Result<Named<Spec>, String> {
        self.fill(sizes).parse()
    }

    /// Pieces that together are the text: words and single characters, each with its place and whether a name may stand
    /// there.
    fn words(&self) -> impl Iterator<Item = (usize, &str, bool)> {
        let text = self.0.as_str();
        let start = text.find('=').map_or(0, |at| at + 1);
        let (mut at, mut depth, mut after_colon) = (0, 0u32, false);
        std::iter::from_fn(move || {
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            let first = rest.chars().next()?;
            let length = rest.find(|c| !is_word(c)).filter(|n| *n > 0);
            let length = length.unwrap_or(if is_word(first) { rest.len() } else { first.len_utf8() });
            let piece = &rest[..length];
            let begun = at;
            at += length;
            match first {
                '[' | '(' => depth += 1,
                ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            // After the colon of `i32:M`; an element type that follows the colon of `randn:` is in lower case.
            let open = begun >= start && (depth > 0 || after_colon);
            after_colon = first == ':';
            Some((begun, piece, open))
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn names_stand_for_numbers_where_numbers_stand() {
        let sizes = Sizes::from([("M".into(), 5), ("K".into(), 16)]);
        let fill = |text: &str| text.parse::<Template>().unwrap().fill(&sizes);
        assert_eq!(
            fill("M=randn:bf16[M,K;pitch=K,offset=16]"),
            "M=randn:bf16[5,16;pitch=16,offset=16]"
        );
        assert_eq!(fill("n=i32:M"), "n=i32:5");
        assert_eq!(fill("A=M/K.npy"), "A=M/K.npy");
        assert_eq!(fill("A=full(M):f32[MK,ä]"), "A=full(5):f32[MK,ä]");
        let template: Template = "A=randn:f32[M]".parse().unwrap();
        assert!(template.uses("M") && !template.uses("A") && !template.uses("K"));
        assert_eq!(template.resolve(&sizes).unwrap().value.shape(), Some(&[5][..]));
    }

    #[test]
    fn draws_stay_in_their_range_and_reach_both_ends() {
        let ranges = ["M=1..3", "K=8..30:8", "N=7"].map(|text| text.parse::<Range>().unwrap());
        let drawn: Vec<Sizes> = (0..100).map(|seed| draw(&ranges, seed)).collect();
        for (name, all) in [("M", vec![1, 2, 3]), ("K", vec![8, 16, 24]), ("N", vec![7])] {
            let mut found: Vec<u64> = drawn.iter().map(|sizes| sizes[name]).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, all);
        }
        assert_eq!(draw(&ranges, 3), draw(&ranges, 3));
        let all = "X=0..18446744073709551615".parse::<Range>().unwrap();
        assert_eq!(draw(std::slice::from_ref(&all), 1).len(), 1);
    }

    #[test]
    fn wrong_ranges_are_refused() {
        for (text, message) in [
            ("M", "expected NAME=LOW..HIGH"),
            ("m=1..2", "expected a name that begins with a capital letter"),
            ("M=2..1", "M has no value: from 2 to 1 in steps of 1"),
            ("M=1..2:0", "M has no value"),
            ("M=1..x", "expected NAME=LOW..HIGH"),
        ] {
            let error = text.parse::<Range>().unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
