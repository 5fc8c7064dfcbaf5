//! One program on two devices, compared argument by argument.
use crate::{
    compile::{Emit, Options as Compilation, Unit},
    failure::{Failure, Result},
    registry,
    run::{Input, missing},
};
use girih_core::manifest::Manifest;
use girih_diff::{
    rounds::{self, Options, Outcome},
    template::draw,
};
use girih_ir::module::Message;
use girih_runtime::Program;

/// Compiles the program if need be, and runs the rounds until one differs. The messages are those of the compilation.
///
/// Errors: a device that is not there, before anything is compiled; a program that does not compile; a launch that fails
/// on either device.
pub fn run(input: Input<'_>, compilation: &Compilation, options: &Options) -> Result<(Outcome, Vec<Message>)> {
    let mut devices = options.on.open()?;
    let (program, messages) = match input {
        Input::Ptx(content, name, manifest) => (from_ptx(content, name, manifest)?, Vec::new()),
        Input::Mlir(source, name) => {
            let context = registry::context();
            let mut compilation = compilation.clone();
            compilation.emit = Emit::Ptx;
            let compiled = Unit::parse(&context, source, name)?.compile(&compilation)?;
            let Some(manifest) = compiled.manifest else {
                return Err(Failure::new(format!(
                    "{name}: no kernel can be launched: a launch manifest comes from a `tile.kernel`, and there is none"
                )));
            };
            let ptx = String::from_utf8_lossy(&compiled.content).into_owned();
            (Program::new(ptx, manifest)?, compiled.messages)
        }
    };
    // Names and sorts of arguments do not depend on the sizes.
    let sizes = draw(&options.ranges, options.seed);
    let args = options.args.iter().map(|arg| arg.resolve(&sizes));
    let args = args
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    let kernel = options.kernel.as_deref().map(|name| name.trim_start_matches('@'));
    missing::check(program.kernel(kernel)?, &args)?;
    match rounds::run(&program, options, &mut devices) {
        Ok(outcome) => Ok((outcome, messages)),
        Err(error) => Err(Failure::from(error).after(messages)),
    }
}

fn from_ptx(content: &[u8], name: &str, manifest: Option<Manifest>) -> Result<Program> {
    let text = std::str::from_utf8(content).map_err(|error| {
        Failure::new(format!(
            "{name}: is not PTX text: byte {} is not UTF-8",
            error.valid_up_to()
        ))
    })?;
    let program = match manifest {
        Some(manifest) => Program::new(text.to_owned(), manifest),
        None => Program::from_text(text),
    };
    program.map_err(|error| Failure::new(format!("{name}: {error}")))
}
