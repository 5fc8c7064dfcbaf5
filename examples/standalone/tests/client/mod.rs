//! A client of a language server, as small as a test needs.
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

/// A running server, and what it has said.
pub struct Client {
    server: Child,
    stdin: ChildStdin,
    said: Receiver<Value>,
    requests: u64,
}

impl Client {
    /// Starts a server and shakes hands; gives the server's capabilities too.
    pub fn start(program: &str) -> (Client, Value) {
        let mut server = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let stdin = server.stdin.take().expect("its input is a pipe");
        let mut stdout = BufReader::new(server.stdout.take().expect("its output is a pipe"));
        let (send, said) = channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let mut client = Client {
            server,
            stdin,
            said,
            requests: 0,
        };
        let hello = json!({ "processId": null, "rootUri": null, "capabilities": {} });
        let capabilities = client.request("initialize", hello)["capabilities"].clone();
        client.notify("initialized", json!({}));
        (client, capabilities)
    }
    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }
    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.write(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.wait(|m| m["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }
    /// Opens a document with a text, and waits for what the server finds in it.
    pub fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let document = json!({ "uri": uri, "languageId": "mlir", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let m = self.wait(|m| m["method"] == "textDocument/publishDiagnostics" && m["params"]["uri"] == uri);
        m["params"]["diagnostics"].as_array().expect("a list").clone()
    }
    /// What the server says of a place; lines and columns count from 0.
    pub fn hover(&mut self, uri: &str, line: u32, character: u32) -> String {
        let at = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        let result = self.request("textDocument/hover", at);
        result["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }
    /// Ends the server in order; it must exit with success.
    pub fn stop(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let status = self.server.wait().expect("the server ends");
        assert!(status.success(), "{status}");
    }
    fn write(&mut self, message: Value) {
        let body = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
        self.stdin.flush().expect("the server reads");
    }
    fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self
                .said
                .recv_timeout(Duration::from_secs(30))
                .expect("the server answers");
            if wanted(&message) {
                return message;
            }
        }
    }
}

/// The next message; `None` at the end of the stream.
fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", n)) => length = n.parse().ok()?,
            _ if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
