//! The modifiers of an opcode, ticked off as the decoder understands them, so that what it does not know is an error.
use super::types::Ty;
use crate::number::Rounding;

/// The dotted parts after the mnemonic.
pub(crate) struct Modifiers<'a> {
    parts: Vec<(&'a str, bool)>,
}

impl<'a> Modifiers<'a> {
    /// Splits an opcode into mnemonic and modifiers.
    pub fn split(opcode: &'a str) -> (&'a str, Self) {
        let mut parts = opcode.split('.');
        let mnemonic = parts.next().unwrap_or_default();
        (
            mnemonic,
            Modifiers {
                parts: parts.map(|p| (p, false)).collect(),
            },
        )
    }

    /// Ticks off a modifier if it is there.
    pub fn take(&mut self, name: &str) -> bool {
        match self.parts.iter_mut().find(|(p, used)| !used && *p == name) {
            Some(part) => {
                part.1 = true;
                true
            }
            None => false,
        }
    }

    /// Ticks off the first modifier, as they stand, that is one of several.
    pub fn one_of<'n>(&mut self, names: &[&'n str]) -> Option<&'n str> {
        self.find(|part| names.iter().copied().find(|name| *name == part))
    }

    /// Ticks off the first modifier that `f` accepts.
    pub fn find<T>(&mut self, f: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        for part in self.parts.iter_mut().filter(|p| !p.1) {
            if let Some(value) = f(part.0) {
                part.1 = true;
                return Some(value);
            }
        }
        None
    }

    /// Ticks off every modifier that starts so.
    pub fn ignore_prefix(&mut self, prefix: &str) {
        for part in self.parts.iter_mut().filter(|p| p.0.starts_with(prefix)) {
            part.1 = true;
        }
    }

    /// Ticks off modifiers without effect here.
    pub fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.take(name);
        }
    }

    /// The next type.
    pub fn ty(&mut self) -> Option<Ty> {
        self.find(Ty::parse)
    }

    /// A floating-point rounding.
    pub fn rounding(&mut self) -> Option<Rounding> {
        self.find(|p| {
            Some(match p {
                "rn" => Rounding::Nearest,
                "rna" => Rounding::NearestAway,
                "rz" => Rounding::Zero,
                "rp" => Rounding::Up,
                "rm" => Rounding::Down,
                _ => return None,
            })
        })
    }

    /// A rounding to an integer in floating point.
    pub fn integer_rounding(&mut self) -> Option<Rounding> {
        self.find(|p| {
            Some(match p {
                "rni" => Rounding::Nearest,
                "rzi" => Rounding::Zero,
                "rpi" => Rounding::Up,
                "rmi" => Rounding::Down,
                _ => return None,
            })
        })
    }

    /// The first modifier that nobody ticked off.
    pub fn unknown(&self) -> Option<&'a str> {
        self.parts.iter().find(|(_, used)| !used).map(|(p, _)| *p)
    }

    /// Whether the modifier is there, used or not.
    pub fn has(&self, name: &str) -> bool {
        self.parts.iter().any(|(p, _)| *p == name)
    }
}
