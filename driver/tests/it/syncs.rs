//! No example synchronises more than it must: each barrier, fence and wait in its PTX is left out, one at a time, and the
//! simulator must find a race, or the result must be wrong.
use crate::{
    programs::on_all_cores,
    variants::{Arguments, Form, forms},
};
use girih::compile::Options;
use std::sync::Mutex;

/// How instructions begin that do nothing but order others.
const ORDERS: [&str; 8] = [
    "bar.",
    "barrier.",
    "fence.",
    "membar.",
    "wgmma.fence.",
    "wgmma.wait_group.",
    "cp.async.wait_",
    "cp.async.bulk.wait_group",
];

/// Launches that come to what no launch of the variants does: rows that are read again and again, aligned and not, and rings
/// whose slots are filled again, by each kind of copy.
fn more(name: &str) -> &'static [&'static str] {
    match name {
        "gemm" => &[
            "A=bf16[150,392] B=bf16[392,264] C=poison:bf16[150,264]",
            "A=bf16[131,332] B=bf16[332,258] C=poison:bf16[131,258]",
            "A=randn:bf16[131,332;pitch=333] B=bf16[332,258] C=poison:bf16[131,258]",
        ],
        "softmax" => &[
            "X=bf16[1,1001] Y=poison:bf16[1,1001]",
            "X=bf16[1,9000] Y=poison:bf16[1,9000]",
        ],
        "softmax with cluster(8, 1, 1)" => &[
            "X=bf16[1,20001] Y=poison:bf16[1,20001]",
            "X=bf16[1,65544] Y=poison:bf16[1,65544]",
            "X=bf16[1,65551] Y=poison:bf16[1,65551]",
        ],
        "rmsnorm" => &[
            "X=bf16[1,1001] W=bf16[1001] Y=poison:bf16[1,1001] eps=f32:1e-5",
            "X=bf16[1,9000] W=bf16[9000] Y=poison:bf16[1,9000] eps=f32:1e-5",
        ],
        "rmsnorm with cluster(8, 1, 1)" => &[
            "X=bf16[1,20001] W=bf16[20001] Y=poison:bf16[1,20001] eps=f32:1e-5",
            "X=bf16[1,65544] W=bf16[65544] Y=poison:bf16[1,65544] eps=f32:1e-5",
            "X=bf16[1,65551] W=bf16[65551] Y=poison:bf16[1,65551] eps=f32:1e-5",
        ],
        "layernorm" => &[
            "X=bf16[1,1001] W=bf16[1001] B=bf16[1001] Y=poison:bf16[1,1001] eps=f32:1e-5",
            "X=bf16[1,9000] W=bf16[9000] B=bf16[9000] Y=poison:bf16[1,9000] eps=f32:1e-5",
        ],
        "layernorm with cluster(8, 1, 1)" => &[
            "X=bf16[1,20001] W=bf16[20001] B=bf16[20001] Y=poison:bf16[1,20001] eps=f32:1e-5",
            "X=bf16[1,65544] W=bf16[65544] B=bf16[65544] Y=poison:bf16[1,65544] eps=f32:1e-5",
            "X=bf16[1,65551] W=bf16[65551] B=bf16[65551] Y=poison:bf16[1,65551] eps=f32:1e-5",
        ],
        _ => &[],
    }
}

/// What comes of a program that has one instruction less.
#[derive(PartialEq)]
enum Without {
    /// A finding, a wrong result, or no end.
    Wrong,
    /// The same, though the instruction runs.
    Right,
    /// The same, since no launch comes to the instruction.
    NeverRun,
}

impl Form {
    /// What comes of the program without its line of number `at`.
    fn without(&self, ptx: &[&str], at: usize, manifest: &girih_core::manifest::Manifest) -> Result<Without, String> {
        let instead = |text: &str| {
            let lines = ptx
                .iter()
                .enumerate()
                .map(|(n, line)| if n == at { text } else { line });
            lines.flat_map(|line| [line, "\n"]).collect::<String>()
        };
        let (less, trap) = (instead(""), instead("trap;"));
        let mut runs = false;
        for words in self.of.iter().chain(more(&self.name)) {
            let on = Arguments::of(words)?;
            if !matches!(self.run(self.input(less.as_bytes(), manifest), &on, true), Ok((_, 0))) {
                return Ok(Without::Wrong);
            }
            runs |= self.run(self.input(trap.as_bytes(), manifest), &on, false).is_err();
        }
        Ok(if runs { Without::Right } else { Without::NeverRun })
    }

    /// What an example synchronises for nothing, or where no launch can tell.
    fn needless(&self) -> Result<Vec<String>, String> {
        let (ptx, manifest) = self.compiled(&Options::default())?;
        let ptx = String::from_utf8(ptx).map_err(|e| e.to_string())?;
        let lines: Vec<&str> = ptx.lines().collect();
        // A file may have other kernels.
        let begins = |line: &str| line.contains(".entry ");
        let own = lines
            .iter()
            .position(|line| begins(line) && line.contains(&format!(".entry {}(", self.runs.kernel)));
        let own = own.ok_or("no such kernel")?;
        let end = lines
            .iter()
            .skip(own + 1)
            .position(|line| begins(line))
            .map_or(lines.len(), |n| own + 1 + n);
        let orders = |line: &str| ORDERS.iter().any(|begin| line.trim_start().starts_with(begin));
        let mut found = vec![];
        for (at, line) in lines
            .iter()
            .enumerate()
            .filter(|(n, line)| (own..end).contains(n) && orders(line))
        {
            match self.without(&lines, at, &manifest)? {
                Without::Wrong => {}
                Without::Right => found.push(format!("line {} of the PTX is needless: {}", at + 1, line.trim())),
                Without::NeverRun => found.push(format!(
                    "no launch comes to line {} of the PTX: {}",
                    at + 1,
                    line.trim()
                )),
            }
        }
        Ok(found)
    }
}

#[test]
fn examples_synchronise_only_where_they_must() {
    let forms = forms();
    let wrong = Mutex::new(vec![]);
    on_all_cores(forms.len() as u64, |n| {
        let form = &forms[n as usize];
        let found = form.needless().unwrap_or_else(|why| vec![why]);
        let found = found.into_iter().map(|why| format!("{}: {why}", form.name));
        wrong.lock().expect("no thread panics with it").extend(found);
    });
    let wrong = wrong.into_inner().expect("no thread panics with it");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
