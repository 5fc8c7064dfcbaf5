//! Holds docs/reference/ to the declarations: every op, type, attribute and pass is there, as it is now. With GIRIH_BLESS
//! set, the files are written anew.
use girih_dialects::tile::{TILE, features::features};
use girih_ir::{
    module::parse,
    op::OpDef,
    param::ParamRegistration,
    prelude::*,
    reference::{anchor, head, op, parameters, pass, summary, table},
};
use girih_passes::pipeline;
use std::{
    collections::BTreeSet,
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a crate of the repository")
        .to_path_buf()
}

/// The text at the head of a source file.
fn about(file: &str) -> String {
    head(&fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}")))
}

/// What a file is called in headings: `mbarrier` for `ops/mbarrier.rs`, `expand_tma` for `expand_tma/mod.rs`.
fn stem(file: &str) -> &str {
    let path = file
        .strip_suffix("/mod.rs")
        .or(file.strip_suffix(".rs"))
        .unwrap_or(file);
    path.rsplit('/').next().unwrap_or(path)
}

/// A heading with a link to the source below it.
fn heading(level: usize, name: &str, file: &str) -> String {
    format!("{} {name}\n\n[{file}](../../{file})\n\n", "#".repeat(level))
}

fn link(name: &str) -> String {
    format!("[`{name}`](#{})", anchor(name))
}

const GENERATED: &str = "Written from the declarations by `cargo xtask bless`; a test says when it is out of date.";

/// What an op's examples ask of the target, an instruction a line.
fn instructions(context: &Context, def: &OpDef) -> Vec<String> {
    let mut found = vec![];
    for example in def.examples() {
        let body = match example.trim_start() {
            top if top.starts_with("tile.kernel") || top.starts_with("tile.entry") => example,
            _ => format!(
                "tile.kernel @example() threads(128) launch {{\n%c1 = arith.constant 1 : index\ntile.grid %c1, %c1, %c1\n}} \
                 body {{\n{example}\n}}"
            ),
        };
        let source = format!("module attributes {{tile.target = \"sm_90a\"}} {{\n{body}\n}}\n");
        let module = parse(context, source.as_bytes(), def.name).expect("examples are right, as other tests say");
        for op in module
            .as_operation()
            .nested_ops()
            .iter()
            .filter(|op| op.full_name() == def.name)
        {
            for feature in features(*op) {
                let needs = feature.on();
                let line = format!("{feature}: {}", needs.join(", or "));
                if !found.contains(&line) {
                    found.push(line);
                }
            }
        }
    }
    found
}

fn ops(context: &Context) -> String {
    let mut text = format!(
        "# Ops of the tile dialect\n\n{GENERATED} Types and attributes are in [types.md](types.md), passes in \
         [passes.md](passes.md).\n\nA name in a table is an operand, an attribute, a region or a result; below it stands what \
         the op does to memory, which is what passes ask. Marks say what effects cannot: `girih_dialects::tile::marks`.\n\n"
    );
    let mut families: Vec<(&str, Vec<&OpDef>)> = vec![];
    for def in girih_dialects::tile::op_definitions() {
        match families.iter_mut().find(|(file, _)| *file == def.file) {
            Some((_, of)) => of.push(def),
            None => families.push((def.file, vec![def])),
        }
    }
    let contents: Vec<_> = families
        .iter()
        .map(|(file, of)| {
            let family = stem(file);
            let links: Vec<_> = of.iter().map(|def| link(def.name)).collect();
            vec![
                format!("[{family}](#{})", anchor(family)),
                summary(&about(file)),
                links.join(" "),
            ]
        })
        .collect();
    text.push_str(&table(&["family", "what", "ops"], &contents));
    for (file, of) in &families {
        let _ = write!(text, "\n{}{}\n", heading(2, stem(file), file), about(file));
        for def in of {
            let _ = write!(text, "\n### `{}`\n\n{}", def.name, op(context, def));
            let asked = instructions(context, def);
            if !asked.is_empty() {
                let lines: String = asked.iter().map(|line| format!("- {line}\n")).collect();
                let _ = write!(text, "\nIts examples need of the target:\n\n{lines}");
            }
        }
    }
    text
}

fn types(context: &Context) -> String {
    let mut text = format!(
        "# Types and attributes\n\n{GENERATED} Ops are in [ops.md](ops.md), passes in [passes.md](passes.md).\n\n"
    );
    let named = |sigil: char| {
        move |registration: &'static ParamRegistration| (format!("{sigil}tile.{}", registration.name), registration)
    };
    let all: Vec<_> = TILE
        .types
        .iter()
        .map(named('!'))
        .chain(TILE.attributes.iter().map(named('#')))
        .collect();
    let contents: Vec<_> = all
        .iter()
        .map(|(name, registration)| vec![link(name), summary(&girih_ir::reference::prose(registration.doc))])
        .collect();
    text.push_str(&table(&["name", "what"], &contents));
    let mut file = "";
    for (name, registration) in all {
        if registration.file != file {
            file = registration.file;
            let _ = write!(text, "\n{}{}\n", heading(2, stem(file), file), about(file));
        }
        let _ = write!(text, "\n### `{name}`\n\n{}", parameters(context, registration));
    }
    for (title, file) in [
        ("Attributes of arguments", "dialects/src/tile/facts.rs"),
        ("Attributes of references", "driver/src/annotation.rs"),
    ] {
        let _ = write!(text, "\n{}{}\n", heading(2, title, file), about(file));
    }
    let _ = write!(
        text,
        "\n## Attributes of modules\n\n`{} = \"sm_90a\"` says what to compile for; `girih targets` lists what there is.\n",
        girih_dialects::tile::TARGET_ATTR
    );
    text
}

fn passes() -> String {
    let mut text = format!("# Passes\n\n{GENERATED} Ops are in [ops.md](ops.md).\n\n## Pipelines\n\n");
    text.push_str("`girih-pipeline{target=sm_90a}` is the whole way down, in stages; `girih compile --emit NAME` stops after one.\n\n");
    let stages = pipeline::STAGES.map(|s| {
        vec![
            format!("`{}`", s.name),
            s.description.into(),
            format!("`{}`", s.pipeline),
        ]
    });
    text.push_str(&table(&["stage", "what", "passes"], &stages));
    text.push_str("\nPasses that do not begin with `tile-` or `convert-tile-` are upstream's.\n\n");
    let passes = girih_ir::pass::registered_here().passes;
    let contents: Vec<_> = passes
        .iter()
        .map(|info| vec![link(info.argument), info.description.into()])
        .collect();
    text.push_str(&table(&["pass", "what"], &contents));
    for info in passes {
        let title = format!("`{}`", info.argument);
        let _ = write!(
            text,
            "\n{}{}\n\n{}",
            heading(2, &title, info.file),
            about(info.file),
            pass(info)
        );
    }
    text
}

/// The files of docs/reference/, by name.
fn files() -> [(&'static str, String); 3] {
    let context = girih::registry::context();
    context.load_all_available_dialects();
    [
        ("ops.md", ops(&context)),
        ("types.md", types(&context)),
        ("passes.md", passes()),
    ]
}

#[test]
fn the_reference_says_what_the_declarations_say() {
    let bless = env::var_os("GIRIH_BLESS").is_some();
    let folder = root().join("docs/reference");
    let mut stale = vec![];
    for (name, text) in files() {
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|kept| kept == text) {
            continue;
        }
        match bless {
            true => {
                fs::create_dir_all(&folder).expect("docs/ can be written");
                fs::write(&path, &text).expect("docs/reference can be written");
            }
            false => stale.push(format!(
                "docs/reference/{name} is out of date; `cargo xtask bless` writes it anew"
            )),
        }
    }
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn links_of_the_reference_lead_somewhere() {
    for (name, text) in files() {
        let mut anchors = BTreeSet::new();
        for heading in text.lines().filter_map(|line| line.strip_prefix("##")) {
            let anchor = anchor(heading.trim_start_matches('#').trim());
            assert!(anchors.insert(anchor.clone()), "{name} has two headings #{anchor}");
        }
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let there = match target.strip_prefix('#') {
                Some(anchor) => anchors.contains(anchor),
                None => target.ends_with(".md") || root().join("docs/reference").join(target).is_file(),
            };
            assert!(there, "{name} links to {target}, which is not there");
        }
    }
}
