//! `tile-set-target{target=sm_90a}`: names the target where the module names none.
//!
//! ```mlir
//! module { ... }                                        // before
//! module attributes {tile.target = "sm_90a"} { ... }    // after
//! ```
//!
//! Needs nothing. A module that names a target keeps it, with a remark where it is another one. Refuses names that are no
//! target, with the nearest one.
use girih_core::target::Target;
use girih_dialects::tile::{TARGET_ATTR, target_of};
use girih_ir::{
    kind::{Kind, Str},
    pass::{OptionDef, OptionDefault, Pass, PassContext, PassInfo},
    prelude::*,
};

/// `tile-set-target`.
pub struct SetTarget;

impl Pass for SetTarget {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "target",
            description: "Architecture as ptxas spells it, such as sm_90a",
            default: OptionDefault::Str("sm_90a"),
        }],
        ..PassInfo::new("tile-set-target", "Names the target of a module that names none")
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let target = match Target::parse(&cx.option_str("target")) {
            Ok(target) => target,
            Err(e) => {
                return Diag::error(module.location(), format!("option 'target' of tile-set-target: {e}")).report();
            }
        };
        match target_of(module) {
            None => module.set_attr(TARGET_ATTR, Str::to_attribute(&target.to_string(), module.ctx())),
            Some(named) => {
                cx.preserve_analyses();
                if named != target {
                    drop(Diag::remark(
                        &module,
                        format!("the module names {named} itself, so tile-set-target{{target={target}}} has no effect"),
                    ));
                }
            }
        }
        Ok(())
    }
}
