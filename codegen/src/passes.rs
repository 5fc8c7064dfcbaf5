//! The LLVM passes between translation and instruction selection.
//!
//! Tile kernels arrive in a good shape: loops are already what they should be, everything is inlined, and hundreds of
//! accumulators sit in inline assembly that no pass looks into. So the default is a short list: promote and fold what the
//! lowering left (descriptor and address arithmetic, aggregates), rotate loops, and move what does not change out of
//! them. LLVM's own `default<O3>` stays selectable; `benches/stages.rs` holds the two against each other.

/// How much LLVM optimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptLevel {
    /// Nothing: the PTX mirrors the operations. wgmma in flight will be serialised by ptxas.
    O0,
    /// Promotion and folding only.
    O1,
    /// The short list of this module's header.
    #[default]
    O2,
    /// LLVM's `default<O3>`.
    O3,
}

impl OptLevel {
    /// From the number after `-O`.
    pub fn from_number(number: u8) -> Option<Self> {
        [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3]
            .get(usize::from(number))
            .copied()
    }

    /// The pipeline in the syntax of LLVM's `opt -passes`; empty for none.
    pub fn llvm_passes(self) -> &'static str {
        match self {
            OptLevel::O0 => "",
            OptLevel::O1 => "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)",
            OptLevel::O2 => {
                "always-inline,cgscc(inline),globaldce,\
                 function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
                 loop-simplify,lcssa,loop-mssa(loop-rotate,licm),early-cse<memssa>,simplifycfg)"
            }
            OptLevel::O3 => "default<O3>",
        }
    }

    /// LLVM's level of effort in instruction selection and scheduling.
    pub(crate) fn codegen(self) -> inkwell::OptimizationLevel {
        match self {
            OptLevel::O0 => inkwell::OptimizationLevel::None,
            OptLevel::O1 => inkwell::OptimizationLevel::Less,
            OptLevel::O2 => inkwell::OptimizationLevel::Default,
            OptLevel::O3 => inkwell::OptimizationLevel::Aggressive,
        }
    }
}
