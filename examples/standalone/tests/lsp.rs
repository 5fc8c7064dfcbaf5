//! The language server over its protocol: it knows the dialect, finds its errors and explains its ops.
mod client;
use client::Client;

#[test]
fn an_editor_sees_errors_and_types_of_the_dialect() {
    let (mut client, capabilities) = Client::start(env!("CARGO_BIN_EXE_standalone-lsp-server"));
    assert_eq!(capabilities["hoverProvider"], true);

    let bad =
        "func.func @f(%a: !length.of<mm>) {\n  %0 = length.refine %a : !length.of<mm> -> !length.of<km>\n  return\n}\n";
    let found = client.open("test:///bad.mlir", bad);
    assert_eq!(found.len(), 1, "{found:?}");
    let message = found[0]["message"].as_str().expect("a message");
    assert!(
        message.contains("'length.refine' op goes from mm to the coarser km"),
        "{message}"
    );
    assert_eq!(found[0]["range"]["start"]["line"], 1);

    let good = "func.func @f() -> !length.of<mm> {\n  %0 = length.constant 7 : !length.of<mm>\n  return %0 : !length.of<mm>\n}\n";
    assert_eq!(client.open("test:///good.mlir", good).len(), 0);
    let about = client.hover("test:///good.mlir", 1, 8);
    assert!(about.contains("length.constant"), "{about}");
    assert!(about.contains("!length.of<mm>"), "{about}");
    client.stop();
}

#[test]
fn a_document_that_nests_deep_does_not_end_the_server() {
    let (mut client, _) = Client::start(env!("CARGO_BIN_EXE_standalone-lsp-server"));
    let deep = "module {".repeat(6_000) + &"}".repeat(6_000);
    client.open("test:///deep.mlir", &deep);
    let bad = client.open("test:///bad.mlir", "nonsense");
    assert_eq!(bad.len(), 1, "the server goes on: {bad:?}");
    client.stop();
}
