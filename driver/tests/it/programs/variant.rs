//! Ways to compile one program that must not show in its result.
use super::program::Dice;
use girih::compile::Options;
use girih_codegen::OptLevel;
use std::fmt;

/// Passes that a program does without.
const OPTIONAL: [&str; 3] = ["tile-vectorize-accesses", "tile-choose-occupancy", "cse"];

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Seed of the layouts, where they are drawn.
    pub layouts: Option<u64>,
    /// Passes that are left out.
    pub without: Vec<&'static str>,
    /// A pass, and what runs in its place.
    pub instead: Option<(&'static str, &'static str)>,
    /// Slots of rings, where they are not as many as fit.
    pub slots: Option<u8>,
    /// Whether no warp is for copies alone.
    pub no_roles: bool,
    /// How much LLVM optimises, from 0 to 3.
    pub opt_level: Option<u8>,
}

impl Variant {
    /// As users compile.
    pub fn usual() -> Self {
        Variant::default()
    }
    /// The variant of a number; that of 0 is the usual one.
    pub fn draw(seed: u64) -> Self {
        let mut dice = Dice(seed ^ 0x7a7a_1b2c);
        if dice.chance(1, 4) {
            return Variant::usual();
        }
        Variant {
            layouts: dice.chance(3, 4).then(|| 1 + dice.below(1 << 30) as u64),
            without: OPTIONAL.into_iter().filter(|_| dice.chance(1, 4)).collect(),
            instead: None,
            slots: dice.chance(1, 2).then(|| 1 + dice.below(5) as u8),
            no_roles: dice.chance(1, 3),
            opt_level: dice.chance(1, 4).then(|| dice.below(4) as u8),
        }
    }
    /// Simpler ones.
    pub fn simpler(&self) -> Vec<Variant> {
        let one = |change: &dyn Fn(&mut Variant)| {
            let mut v = self.clone();
            change(&mut v);
            v
        };
        let mut list = vec![
            one(&|v| v.opt_level = None),
            one(&|v| v.without.clear()),
            one(&|v| v.layouts = None),
            one(&|v| (v.slots, v.no_roles) = (None, false)),
        ];
        list.retain(|v| v != self);
        list
    }
    /// For the compiler.
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        if let Some(level) = self.opt_level {
            options.opt_level = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3][usize::from(level)];
        }
        let none = |pass: &&str| (pass.to_string(), String::new());
        options.instead = self.without.iter().map(none).collect();
        let other = self.instead.map(|(pass, text)| (pass.to_owned(), text.to_owned()));
        options.instead.extend(other);
        if let Some(seed) = self.layouts {
            let pass = "tile-assign-layouts".to_owned();
            options.instead.push((pass.clone(), format!("{pass}{{seed={seed}}}")));
        }
        if let Some(slots) = self.slots {
            options
                .instead
                .push(("tile-pipeline".to_owned(), format!("tile-pipeline{{slots={slots}}}")));
        }
        if self.no_roles {
            let pass = "tile-specialize-warps".to_owned();
            options.instead.push((pass.clone(), format!("{pass}{{roles=false}}")));
        }
        options
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layouts ")?;
        match self.layouts {
            Some(seed) => write!(f, "of seed {seed}")?,
            None => write!(f, "as chosen")?,
        }
        if !self.without.is_empty() {
            write!(f, ", without {}", self.without.join(", "))?;
        }
        match self.instead {
            Some((pass, "")) => write!(f, ", without {pass}")?,
            Some((_, other)) => write!(f, ", by {other}")?,
            None => {}
        }
        if let Some(slots) = self.slots {
            write!(f, ", {slots} slots")?;
        }
        if self.no_roles {
            write!(f, ", no roles")?;
        }
        match self.opt_level {
            Some(level) => write!(f, ", -O{level}"),
            None => Ok(()),
        }
    }
}

#[test]
fn a_pass_that_no_longer_has_its_name_is_no_plain_compilation() {
    let mut options = Options::default();
    options.instead.push(("tile-assign-layout".to_owned(), String::new()));
    let failure = girih::compile::compile(b"module {}", "x.mlir", &options).expect_err("there is no such pass");
    let said = failure.to_string();
    assert!(
        said.contains("no step of the compiler is called `tile-assign-layout`"),
        "{said}"
    );
}
