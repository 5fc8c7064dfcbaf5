//! The upstream dialects, interfaces and passes that a compiler needs, one by one: a program that names only these starts
//! faster and is a fraction of the size of one that registers all of MLIR.
use crate::raw;
use melior::dialect::DialectRegistry;
use mlir_sys::*;
use std::sync::Once;

/// Dialects of kernels and of the functions that specify them, with their interfaces for bufferization, for conversion
/// to the llvm dialect and for translation to LLVM IR.
pub fn register_minimal_dialects(registry: &DialectRegistry) {
    const HANDLES: [unsafe extern "C" fn() -> MlirDialectHandle; 18] = [
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__bufferization__,
        mlirGetDialectHandle__cf__,
        mlirGetDialectHandle__complex__,
        mlirGetDialectHandle__dlti__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__index__,
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__nvvm__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__tensor__,
        mlirGetDialectHandle__ub__,
        mlirGetDialectHandle__vector__,
    ];
    for handle in HANDLES {
        // SAFETY: the registry is alive; handles are static.
        unsafe { mlirDialectHandleInsertDialect(handle(), registry.to_raw()) }
    }
    // SAFETY: as above.
    unsafe { raw::girih_register_minimal_interfaces(registry.to_raw()) }
}

/// Passes of the ways down to the llvm dialect, on the GPU and on the CPU; once for the process.
pub fn register_minimal_passes() {
    static ONCE: Once = Once::new();
    // SAFETY: each adds one pass to MLIR's registry, once.
    ONCE.call_once(|| unsafe {
        mlirRegisterTransformsPasses();
        mlirRegisterConversionArithToLLVMConversionPass();
        mlirRegisterConversionConvertBufferizationToMemRefPass();
        mlirRegisterConversionConvertControlFlowToLLVMPass();
        mlirRegisterConversionConvertFuncToLLVMPass();
        mlirRegisterConversionConvertGpuOpsToNVVMOps();
        mlirRegisterConversionConvertIndexToLLVMPass();
        mlirRegisterConversionConvertMathToLLVMPass();
        mlirRegisterConversionConvertMathToLibmPass();
        mlirRegisterConversionConvertNVVMToLLVMPass();
        mlirRegisterConversionConvertToLLVMPass();
        mlirRegisterConversionConvertVectorToLLVMPass();
        mlirRegisterConversionConvertVectorToSCF();
        mlirRegisterConversionFinalizeMemRefToLLVMConversionPass();
        mlirRegisterConversionLowerAffinePass();
        mlirRegisterConversionReconcileUnrealizedCastsPass();
        mlirRegisterConversionSCFToControlFlowPass();
        mlirRegisterConversionUBToLLVMConversionPass();
        mlirRegisterArithArithEmulateUnsupportedFloats();
        mlirRegisterArithArithExpandOpsPass();
        mlirRegisterArithArithIntRangeNarrowing();
        mlirRegisterArithArithIntRangeOpts();
        mlirRegisterBufferizationBufferDeallocationSimplificationPass();
        mlirRegisterBufferizationLowerDeallocationsPass();
        mlirRegisterBufferizationOneShotBufferizePass();
        mlirRegisterBufferizationOwnershipBasedBufferDeallocationPass();
        mlirRegisterLinalgConvertLinalgToLoopsPass();
        mlirRegisterLinalgLinalgGeneralizeNamedOpsPass();
        mlirRegisterLLVMDIScopeForLLVMFuncOpPass();
        mlirRegisterMathMathExpandOpsPass();
        mlirRegisterMathMathExtendToSupportedTypes();
        mlirRegisterMemRefExpandOpsPass();
        mlirRegisterMemRefExpandReallocPass();
        mlirRegisterMemRefExpandStridedMetadataPass();
        mlirRegisterMemRefFoldMemRefAliasOpsPass();
        mlirRegisterSCFSCFForallToForLoop();
    });
}
