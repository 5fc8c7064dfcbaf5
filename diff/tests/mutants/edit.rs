//! Changes of single lines of PTX.
use crate::kernel::{Kernel, Site};

/// Empties a site's line. A wait that is a loop of two lines goes whole.
pub fn drop(kernel: &Kernel, site: &Site) -> Vec<(u32, String)> {
    let mut changes = vec![(site.line, String::new())];
    let next = kernel.line(site.line + 1);
    if site.code.contains("try_wait") && !site.code.contains("bra ") && next.contains("bra ") {
        changes.push((site.line + 1, String::new()));
    }
    changes
}

/// Moves a site to the line of an access: before it where the access stands above, after it where it stands below. `None`
/// where other control flow or synchronisation lies between.
pub fn move_to(kernel: &Kernel, site: &Site, target: u32) -> Option<String> {
    let between = site.line.min(target)..=site.line.max(target);
    let others = between.filter(|line| *line != site.line && *line != target);
    let is_in_the_way = |line: u32| {
        let code = kernel.line(line);
        let stops = ["bra ", "bar.sync", "bar.arrive", "barrier.", "try_wait"];
        stops.iter().any(|stop| code.contains(stop)) || code.trim_end().ends_with(':')
    };
    let mut others = others;
    if others.any(is_in_the_way) || site.code.contains("try_wait") {
        return None;
    }
    let access = kernel.line(target).split("//").next().unwrap_or_default().trim();
    let both = match target < site.line {
        true => format!("{} {access}", site.code),
        false => format!("{access} {}", site.code),
    };
    let mut changes = drop(kernel, site);
    changes.push((target, both));
    Some(kernel.with(&changes))
}

/// The code with another instruction before it, after a label and under no predicate.
pub fn before(code: &str, instruction: &str) -> String {
    match instruction.is_empty() {
        true => code.to_owned(),
        false => format!("{instruction} {code}"),
    }
}

/// `try_wait.parity` with the other parity.
pub fn flip_parity(code: &str) -> Option<String> {
    let start = code.find("mbarrier.try_wait.parity")?;
    let end = start + code[start..].find(';')?;
    let (head, parity) = code[start..end].rsplit_once(", ")?;
    let (head, parity, label, rest) = (head, parity.trim(), &code[..start], &code[end..]);
    Some(match parity {
        "0" => format!("{label}{head}, 1{rest}"),
        "1" => format!("{label}{head}, 0{rest}"),
        register => format!("{label}xor.b32 %q0, {register}, 1; {head}, %q0{rest}"),
    })
}

/// An operand after a change by a constant: a number at once, a register through `%q0`, which [`change`] computes.
pub fn changed(operand: &str, by: i64) -> String {
    match operand.parse::<i64>() {
        Ok(number) => (number + by).to_string(),
        Err(_) => "%q0".to_owned(),
    }
}

/// The instruction that [`changed`] needs.
pub fn change(operand: &str, by: i64) -> String {
    match operand.parse::<i64>() {
        Ok(_) => String::new(),
        Err(_) => format!("add.s32 %q0, {operand}, {by};"),
    }
}

/// The code with the last operand that reads `old` replaced.
pub fn replace_operand(code: &str, old: &str, new: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '%';
    let mut found = None;
    for (at, _) in code.match_indices(old) {
        let before = code[..at].chars().next_back();
        let after = code[at + old.len()..].chars().next();
        if !before.is_some_and(is_word) && !after.is_some_and(is_word) {
            found = Some(at);
        }
    }
    let at = found?;
    Some(format!("{}{new}{}", &code[..at], &code[at + old.len()..]))
}

/// Bytes by which an address must move to be off the boundary of its access and no further off than needed.
pub fn misalignment(code: &str) -> i64 {
    if code.contains("cp.async.bulk.tensor") {
        64
    } else if code.contains("cp.async") || code.contains("matrix") {
        8
    } else if code.contains(".v4.") || code.contains(".v2.") || code.contains("mbarrier") {
        4
    } else if code.contains(".b16") {
        1
    } else {
        2
    }
}

/// The code with its first address in brackets moved; of an arrival or an initialisation, the mbarrier's.
pub fn shift_address(code: &str, bytes: i64) -> Option<String> {
    let open = code.find('[')?;
    let close = open + code[open..].find(']')?;
    let address = &code[open + 1..close];
    let shifted = match address.split_once('+') {
        Some((base, offset)) => format!("{base}+{}", offset.trim().parse::<i64>().ok()? + bytes),
        None => format!("{address}+{bytes}"),
    };
    Some(format!("{}[{shifted}]{}", &code[..open], &code[close + 1..]))
}
