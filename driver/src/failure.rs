//! Why nothing came of it: messages, and whose move it is.
use crate::finding::Checks;
use girih_core::device::DeviceError;
use girih_ir::{Severity, module::Message};
use serde_json::{Value, json};
use std::{fmt, path::Path};

/// Whose move it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program, a file or the machine is at fault: exit code 1.
    Failed,
    /// The command line is at fault, by its options, SPECs, names, or values that nobody takes: exit code 2.
    Usage,
}

/// A failure. At least one of its messages is an error.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Whose move it is.
    pub kind: Kind,
    /// What the CUDA driver calls the error of a device, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub code: Option<String>,
    /// Everything that was said, warnings and remarks included, in order.
    pub messages: Vec<Message>,
    /// What the simulator's checks found before; `None` where nothing was checked.
    pub checks: Option<Box<Checks>>,
    /// What kernels printed before, where it has not gone to standard output already.
    pub printed: String,
}

/// Result of girih's calls.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure that no line of a source stands for.
    pub fn new(text: impl Into<String>) -> Self {
        Failure {
            kind: Kind::Failed,
            code: None,
            messages: vec![error(text)],
            checks: None,
            printed: String::new(),
        }
    }

    /// A wrong command line.
    pub fn usage(text: impl Into<String>) -> Self {
        Failure {
            kind: Kind::Usage,
            ..Failure::new(text)
        }
    }

    /// A failure about a file.
    pub fn file(path: &Path, what: impl fmt::Display) -> Self {
        Failure::new(format!("{}: {what}", path.display()))
    }

    /// A failure that has been said already; `stage` names it if it has not.
    pub fn diagnosed(messages: Vec<Message>, stage: &str) -> Self {
        let said = messages.iter().any(|message| message.severity == Severity::Error);
        let mut failure = Failure {
            kind: Kind::Failed,
            code: None,
            messages,
            checks: None,
            printed: String::new(),
        };
        if !said {
            failure
                .messages
                .push(error(format!("{stage} failed without saying why")));
        }
        failure
    }

    /// Puts what was said before in front.
    pub fn after(mut self, earlier: Vec<Message>) -> Self {
        self.messages.splice(0..0, earlier);
        self
    }

    /// Adds what the simulator's checks found before it.
    pub fn with_checks(mut self, checks: Option<Checks>) -> Self {
        self.checks = checks.map(Box::new);
        self
    }

    /// Gives messages about lines of the PTX, where that is what the user gave, the place in its file.
    pub fn in_ptx(mut self, file: Option<&str>) -> Self {
        let Some(file) = file else { return self };
        for message in self.messages.iter_mut().filter(|message| message.place.is_none()) {
            let Some((head, rest)) = message.text.split_once(": PTX ") else {
                continue;
            };
            let place = rest.split_once(": ").and_then(|(place, rest)| {
                let (line, column) = place.split_once(':')?;
                Some((line.parse().ok()?, column.parse().ok()?, rest))
            });
            // The line itself and the caret below are quoted from the file.
            if let Some((line, column, rest)) = place {
                let what = rest.lines().next().unwrap_or_default();
                let text = format!("{head}: {what}");
                message.place = Some((file.to_owned(), line, column));
                message.text = text;
            }
        }
        self
    }

    /// The first error as data: whose move it is, what the device calls it, what was said, and where.
    pub fn to_json(&self) -> Value {
        let Some(error) = self.messages.iter().find(|message| message.severity == Severity::Error) else {
            return Value::Null;
        };
        let kind = match self.kind {
            Kind::Failed => "program",
            Kind::Usage => "usage",
        };
        let mut value = json!({"kind": kind, "message": error.text.lines().next()});
        if let Some(code) = &self.code {
            value["code"] = json!(code);
        }
        let lines = || error.text.lines().map(str::trim);
        if let Some((file, line, column)) = error.place.clone().or_else(|| {
            // A fault names the line of the program that its PTX came from.
            let from = lines().find_map(|line| line.strip_prefix("from "))?;
            let (place, _) = split_place(&format!("{from}: "))?;
            Some(place)
        }) {
            value["file"] = json!(file);
            value["line"] = json!(line);
            value["column"] = json!(column);
        }
        let ptx_line = lines().find_map(|line| {
            line.strip_prefix("at PTX line ")?
                .split(':')
                .next()?
                .parse::<u32>()
                .ok()
        });
        if let Some(line) = ptx_line {
            value["ptx_line"] = json!(line);
        }
        value
    }

    /// Adds what kernels printed before it.
    pub fn with_printed(mut self, printed: String) -> Self {
        self.printed = printed;
        self
    }

    /// Exit code of a program that ends with this.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, message) in self.messages.iter().enumerate() {
            write!(f, "{}{message}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

fn error(text: impl Into<String>) -> Message {
    Message {
        severity: Severity::Error,
        place: None,
        text: text.into(),
        notes: Vec::new(),
    }
}

/// One message from a line of text that may begin with `file:line:column:` and `error:` or `warning:`.
pub(crate) fn from_line(line: &str) -> Message {
    let (place, rest) = split_place(line).map_or((None, line), |(place, rest)| (Some(place), rest));
    let (severity, text) = [("error: ", Severity::Error), ("warning: ", Severity::Warning)]
        .into_iter()
        .find_map(|(prefix, severity)| Some((severity, rest.strip_prefix(prefix)?)))
        .unwrap_or((Severity::Error, rest));
    Message {
        severity,
        place,
        text: text.to_owned(),
        notes: Vec::new(),
    }
}

/// A device's message, at the line of the source that it names.
fn from_device(text: &str) -> Message {
    let place = text.lines().find_map(|line| {
        let mut parts = line.strip_prefix("  from ")?.rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let row = parts.next()?.parse().ok()?;
        Some((parts.next()?.to_owned(), row, column))
    });
    Message { place, ..error(text) }
}

fn split_place(line: &str) -> Option<((String, u32, u32), &str)> {
    let (head, rest) = line.split_once(": ")?;
    let (head, column) = head.rsplit_once(':')?;
    let (file, row) = head.rsplit_once(':')?;
    Some(((file.to_owned(), row.parse().ok()?, column.parse().ok()?), rest))
}

impl From<girih_codegen::Error> for Failure {
    fn from(failed: girih_codegen::Error) -> Self {
        use girih_codegen::Error as E;
        let messages = match &failed {
            E::Llvm(diagnostics) => diagnostics.iter().map(|said| from_line(&said.to_string())).collect(),
            E::Ptxas { arch, messages } => {
                let mut all: Vec<_> = messages.iter().map(|line| from_line(line)).collect();
                all.push(error(format!("ptxas refused the PTX for {arch}")));
                all
            }
            E::PtxasSignal(crash) => {
                let said = crash.messages.iter().map(|line| from_line(line));
                said.chain([error(failed.to_string())]).collect()
            }
            other => vec![error(other.to_string())],
        };
        Failure {
            kind: Kind::Failed,
            code: None,
            messages,
            checks: None,
            printed: String::new(),
        }
    }
}

impl From<girih_runtime::Error> for Failure {
    fn from(failed: girih_runtime::Error) -> Self {
        use girih_runtime::Error as E;
        let kind = match failed.is_usage() {
            true => Kind::Usage,
            false => Kind::Failed,
        };
        let code = match &failed {
            E::Device(device) => device.code.clone(),
            _ => None,
        };
        let messages = match &failed {
            // One line for each argument.
            E::Arguments { .. } => failed.to_string().lines().map(error).collect(),
            E::Device(device) => vec![from_device(&device.message)],
            _ => vec![error(failed.to_string())],
        };
        Failure {
            kind,
            code,
            messages,
            checks: None,
            printed: String::new(),
        }
    }
}

impl From<DeviceError> for Failure {
    fn from(failed: DeviceError) -> Self {
        Failure {
            messages: vec![from_device(&failed.message)],
            code: failed.code,
            ..Failure::new("")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_tools_become_located_messages() {
        let message = from_line("dir/a.mlir:3:5: error: bad register (PTX line 7: `add`)");
        assert_eq!(message.place, Some(("dir/a.mlir".into(), 3, 5)));
        assert_eq!(message.text, "bad register (PTX line 7: `add`)");
        let message = from_line("warning: slow: very");
        assert_eq!((message.severity, message.place), (Severity::Warning, None));
        assert_eq!(message.text, "slow: very");
        assert_eq!(from_line("a:b:c: d").text, "a:b:c: d");
    }

    #[test]
    fn errors_as_data_have_a_place() {
        let told = |code: &str, text: &str| Failure::from(DeviceError::with_code(code, format!("{code}: {text}")));
        let parse = told("CUDA_ERROR_INVALID_PTX", "PTX 30:2: `st.x`: no\n  st.x;\n  ^").in_ptx(Some("a.ptx"));
        assert_eq!(
            parse.to_string(),
            "a.ptx:30:2: error: CUDA_ERROR_INVALID_PTX: `st.x`: no"
        );
        assert_eq!(
            parse.to_json(),
            json!({"kind": "program", "code": "CUDA_ERROR_INVALID_PTX", "message": "CUDA_ERROR_INVALID_PTX: `st.x`: no",
                   "file": "a.ptx", "line": 30, "column": 2})
        );
        let fault = "no\n  at PTX line 9: ld;\n  from a.mlir:3:5\n  inlined at a.mlir:7:1";
        let fault = told("CUDA_ERROR_ILLEGAL_ADDRESS", fault).in_ptx(None);
        assert_eq!(
            fault.to_json(),
            json!({"kind": "program", "code": "CUDA_ERROR_ILLEGAL_ADDRESS", "message": "CUDA_ERROR_ILLEGAL_ADDRESS: no",
                   "file": "a.mlir", "line": 3, "column": 5, "ptx_line": 9})
        );
        // Whatever the words are: the driver's own end with the name.
        let said = Failure::from(DeviceError::with_code(
            "CUDA_ERROR_NO_DEVICE",
            "none (CUDA_ERROR_NO_DEVICE)",
        ))
        .to_json();
        assert_eq!(said["code"], "CUDA_ERROR_NO_DEVICE");
        assert_eq!(Failure::usage("x").to_json(), json!({"kind": "usage", "message": "x"}));
    }

    #[test]
    fn a_failure_always_says_something() {
        let failure = Failure::diagnosed(Vec::new(), "`canonicalize`");
        assert_eq!(failure.to_string(), "error: `canonicalize` failed without saying why");
        assert_eq!(failure.exit_code(), 1);
        assert_eq!(Failure::usage("x").exit_code(), 2);
    }
}
