//! A textual pass pipeline as single steps, so that each can be timed, dumped, and named when it fails.

/// One pass within its anchors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The pass's name, for people and file names.
    pub(super) name: String,
    /// What the pass manager runs: `gpu.module(convert-nvvm-to-llvm)`.
    pub(super) pipeline: String,
}

impl Step {
    /// The step, or what runs in its place.
    pub(super) fn or(self, instead: &[(String, String)]) -> Vec<Step> {
        match instead.iter().find(|(name, _)| *name == self.name) {
            Some((_, pipeline)) => split(pipeline),
            None => vec![self],
        }
    }
}

/// The first name in `instead` that no step of the pipelines has.
pub(super) fn unknown(instead: &[(String, String)], pipelines: impl Iterator<Item = &'static str>) -> Option<&str> {
    let steps: Vec<Step> = pipelines.flat_map(split).collect();
    let names = instead.iter().map(|(name, _)| name.as_str());
    names
        .into_iter()
        .find(|name| steps.iter().all(|step| step.name != *name))
}

/// Splits `a{x=1},gpu.module(b,c)` into `a{x=1}`, `gpu.module(b)`, `gpu.module(c)`.
pub(super) fn split(pipeline: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for element in top_level(pipeline) {
        let open = element.find(['(', '{']).unwrap_or(element.len());
        let head = element[..open].trim();
        match element[open..]
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'))
        {
            Some(nested) => steps.extend(split(nested).into_iter().map(|step| Step {
                name: step.name,
                pipeline: format!("{head}({})", step.pipeline),
            })),
            None => steps.push(Step {
                name: head.to_owned(),
                pipeline: element.to_owned(),
            }),
        }
    }
    steps
}

/// The parts between commas outside brackets.
fn top_level(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |c| {
        match c {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn anchors_are_repeated_around_each_pass() {
        let steps = split("a{x=1,2 y=3}, gpu.module( b{z={q=1}} , llvm.func(c,d)),,e");
        let pairs: Vec<_> = steps
            .iter()
            .map(|step| (step.name.as_str(), step.pipeline.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("a", "a{x=1,2 y=3}"),
                ("b", "gpu.module(b{z={q=1}})"),
                ("c", "gpu.module(llvm.func(c))"),
                ("d", "gpu.module(llvm.func(d))"),
                ("e", "e"),
            ]
        );
        assert_eq!(split(""), []);
        let instead = [("c".to_owned(), String::new()), ("a".to_owned(), "f{y},g".to_owned())];
        let levels = || ["a{x=1},gpu.module(b)", "c"].into_iter();
        assert_eq!(unknown(&instead, levels()), None);
        assert_eq!(
            unknown(&[("gpu.module".to_owned(), String::new())], levels()),
            Some("gpu.module")
        );
        let names: Vec<_> = steps
            .into_iter()
            .flat_map(|step| step.or(&instead))
            .map(|step| step.pipeline)
            .collect();
        assert_eq!(
            names,
            ["f{y}", "g", "gpu.module(b{z={q=1}})", "gpu.module(llvm.func(d))", "e"]
        );
    }
}
