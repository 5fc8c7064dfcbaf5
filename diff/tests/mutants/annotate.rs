//! Facts for kernels that the compiler made, which carry none: put on lines that are found by what stands in them.

/// Which line of a kernel gets which facts: the number of the line among those of the kernel that contain a text, from 0.
/// In the facts, `$last` stands for the instruction's last operand and `$register` for the first of its registers in braces.
pub struct Note(pub &'static str, pub usize, pub &'static str);

/// The text with facts, the launch, and registers for operators to use.
pub fn annotate(text: &str, entry: &str, launch: &str, notes: &[Note]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let head = format!(".entry {entry}(");
    let start = lines.iter().position(|line| line.contains(&head)).expect("the kernel");
    let end = lines[start + 1..].iter().position(|line| line.contains(".entry "));
    let end = end.map_or(lines.len(), |end| start + 1 + end);
    let body = start..end;
    for Note(what, number, facts) in notes {
        let mut found = body.clone().filter(|at| lines[*at].contains(what));
        let at = found
            .nth(*number)
            .unwrap_or_else(|| panic!("{entry}: `{what}` stands in fewer lines"));
        let code = lines[at].clone();
        let last = code
            .trim_end_matches(';')
            .rsplit([' ', '\t'])
            .next()
            .unwrap_or_default();
        let register = code
            .split('{')
            .nth(1)
            .and_then(|list| list.split([',', '}']).next())
            .unwrap_or_default();
        let facts = facts.replace("$last", last).replace("$register", register.trim());
        match lines[at].contains("//@ ") {
            true => lines[at] += &format!(" {facts}"),
            false => lines[at] += &format!(" //@ {facts}"),
        }
    }
    if let Some(at) = body.clone().find(|at| lines[*at].contains(".reg .pred")) {
        lines[at] += " .reg .b32 %q<4>; .reg .pred %low;";
    }
    if let Some(at) = body.clone().find(|at| lines[*at].contains("%tid.x;")) {
        let register = lines[at]
            .split_whitespace()
            .nth(1)
            .unwrap_or_default()
            .trim_end_matches(',')
            .to_owned();
        lines[at] += &format!(" and.b32 %q0, {register}, 31; setp.lt.u32 %low, %q0, 16;");
    }
    // The launch stands behind everything, so that lines keep their numbers.
    lines.push(format!("// launch: --kernel {entry} {launch}"));
    lines.push(String::new());
    lines.join("\n")
}
