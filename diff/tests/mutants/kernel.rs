//! A right kernel with what its text says about itself.
//!
//! A line `// launch: ...` holds the options of its launch. A comment `//@ NAMES FACTS` at the end of a line makes the line a
//! site. Its names are what facts speak of; several sites may share one. Facts are true of the right kernel, and operators
//! read from them what goes wrong when the site is changed:
//!
//! | fact | what it says |
//! |---|---|
//! | `orders=A>B,C>D` | without the site, nothing orders accesses of sites A before those of sites B |
//! | `waits=A` | threads wait at sites A for what the site does |
//! | `starts=A>B` | the site lets B use the barrier object that A makes |
//! | `exits=A` | the site keeps blocks alive that sites A access |
//! | `drains=A` | the site keeps a block alive while asynchronous copies A read its shared memory |
//! | `guards=A` | the site is a branch around accesses A outside an array |
//! | `feeds=A` | sites A read what the site alone writes |
//! | `used=A` | sites A use the barrier object that the site makes |
//! | `flip=early`, `flip=stuck` | with the other parity the site passes too early, or never |
//! | `overruns=A` | without the wait, threads run a round ahead at sites A: arrive twice, or miss a phase |
//! | `count=N`, `bytes=REGISTER` | arrivals or bytes that the site announces |
//! | `registers=A,B` | registers that site A writes are a product's at site B |
//! | `touches=REGISTER` | a register that belongs to the site's product until the wait |
//! | `atomic=ADDRESS,VALUE` | the site adds at an address where other threads add, too |
//! | `stride=X`, `swizzle=X` | another number for the matrix descriptor |
//! | `misalign`, `bounds`, `source`, `transposes`, `map`, `coordinate` | flags: the site has an address, another address, a transposing form, a rank, a coordinate |
//! | `except=OPERATOR` | an operator that changes nothing here; the line above says why |
use std::collections::{BTreeMap, BTreeSet};

/// Lines of the PTX text, from 1.
pub type Lines = BTreeSet<u32>;

/// One line with its facts.
#[derive(Clone, Debug)]
pub struct Site {
    /// From 1.
    pub line: u32,
    /// Without its comment.
    pub code: String,
    pub names: Vec<String>,
    facts: BTreeMap<String, Vec<String>>,
}

impl Site {
    pub fn fact(&self, name: &str) -> &[String] {
        self.facts.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn is(&self, flag: &str) -> bool {
        self.names.iter().any(|name| name == flag)
    }

    /// Its first name, by which mutants are called.
    pub fn name(&self) -> &str {
        self.names.first().map_or("?", String::as_str)
    }
}

/// A kernel's text, taken apart.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: String,
    pub text: String,
    pub sites: Vec<Site>,
    /// Options of the launch.
    pub launch: Vec<String>,
}

impl Kernel {
    pub fn parse(name: &str, text: &str) -> Kernel {
        let launch = text.lines().find_map(|line| line.strip_prefix("// launch: "));
        let launch = launch.unwrap_or_else(|| panic!("{name} does not say how it is launched"));
        let kernel = Kernel {
            name: name.to_owned(),
            text: text.to_owned(),
            sites: (1..).zip(text.lines()).filter_map(|(n, line)| site(n, line)).collect(),
            launch: launch.split_whitespace().map(str::to_owned).collect(),
        };
        for site in &kernel.sites {
            for fact in [
                "orders",
                "waits",
                "starts",
                "exits",
                "drains",
                "guards",
                "feeds",
                "used",
                "overruns",
                "registers",
            ] {
                for name in site.fact(fact).iter().flat_map(|value| value.split('>')) {
                    assert!(!kernel.lines(name).is_empty(), "{}: no site {name}", kernel.name);
                }
            }
        }
        kernel
    }

    /// Lines of the sites of that name.
    pub fn lines(&self, name: &str) -> Lines {
        let named = self.sites.iter().filter(|site| site.is(name));
        named.map(|site| site.line).collect()
    }

    /// The two sides of each `A>B` of a fact.
    pub fn pairs(&self, site: &Site, fact: &str) -> Vec<(Lines, Lines)> {
        let pair = |text: &String| text.split_once('>').map(|(a, b)| (self.lines(a), self.lines(b)));
        site.fact(fact).iter().filter_map(pair).collect()
    }

    /// Lines of all sites that a fact names.
    pub fn all(&self, site: &Site, fact: &str) -> Lines {
        site.fact(fact).iter().flat_map(|name| self.lines(name)).collect()
    }

    pub fn line(&self, number: u32) -> &str {
        self.text.lines().nth(number as usize - 1).unwrap_or_default()
    }

    /// The text with some lines changed. No line is added or goes away, so that numbers stay true.
    pub fn with(&self, changes: &[(u32, String)]) -> String {
        let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
        for (number, text) in changes {
            lines[*number as usize - 1] = text.clone();
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

fn site(line: u32, text: &str) -> Option<Site> {
    let (code, comment) = text.split_once("//@ ")?;
    let mut site = Site {
        line,
        code: code.split_whitespace().collect::<Vec<_>>().join(" "),
        names: Vec::new(),
        facts: BTreeMap::new(),
    };
    for word in comment.split_whitespace() {
        match word.split_once('=') {
            None => site.names.push(word.to_owned()),
            Some((name, values)) => {
                let values = values.split(',').map(str::to_owned).collect();
                site.facts.insert(name.to_owned(), values);
            }
        }
    }
    Some(site)
}
