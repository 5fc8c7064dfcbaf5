// What upstream registers beside its dialects, for those dialects alone that a GPU compiler and its CPU references need.
// `mlirRegisterAllDialects` would link everything that MLIR has.
//
// The functions are declared here and not included, since their headers cost minutes of compile time; a signature that
// changes upstream is a link error.
#include "girih_ir.h"

#include "mlir/CAPI/Registration.h"

namespace mlir {
void registerBuiltinDialectTranslation(DialectRegistry &);
void registerGPUDialectTranslation(DialectRegistry &);
void registerLLVMDialectTranslation(DialectRegistry &);
void registerNVVMDialectTranslation(DialectRegistry &);
void registerConvertFuncToLLVMInterface(DialectRegistry &);
void registerConvertMathToLLVMInterface(DialectRegistry &);
void registerConvertMemRefToLLVMInterface(DialectRegistry &);
void registerConvertNVVMToLLVMInterface(DialectRegistry &);
namespace builtin {
void registerCastOpInterfaceExternalModels(DialectRegistry &);
} // namespace builtin
namespace arith {
void registerConvertArithToLLVMInterface(DialectRegistry &);
void registerBufferDeallocationOpInterfaceExternalModels(DialectRegistry &);
void registerBufferViewFlowOpInterfaceExternalModels(DialectRegistry &);
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &);
void registerValueBoundsOpInterfaceExternalModels(DialectRegistry &);
} // namespace arith
namespace affine {
void registerValueBoundsOpInterfaceExternalModels(DialectRegistry &);
} // namespace affine
namespace bufferization::func_ext {
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &);
} // namespace bufferization::func_ext
namespace cf {
void registerConvertControlFlowToLLVMInterface(DialectRegistry &);
void registerBufferDeallocationOpInterfaceExternalModels(DialectRegistry &);
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &);
} // namespace cf
namespace func {
void registerInlinerExtension(DialectRegistry &);
} // namespace func
namespace gpu {
void registerBufferDeallocationOpInterfaceExternalModels(DialectRegistry &);
void registerValueBoundsOpInterfaceExternalModels(DialectRegistry &);
} // namespace gpu
namespace index {
void registerConvertIndexToLLVMInterface(DialectRegistry &);
} // namespace index
namespace linalg {
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &);
void registerSubsetOpInterfaceExternalModels(DialectRegistry &);
} // namespace linalg
namespace LLVM {
void registerInlinerInterface(DialectRegistry &);
} // namespace LLVM
namespace memref {
void registerAllocationOpInterfaceExternalModels(DialectRegistry &);
void registerBufferViewFlowOpInterfaceExternalModels(DialectRegistry &);
void registerMemorySlotExternalModels(DialectRegistry &);
void registerValueBoundsOpInterfaceExternalModels(DialectRegistry &);
} // namespace memref
namespace NVVM {
void registerConvertGpuToNVVMInterface(DialectRegistry &);
void registerInlinerInterface(DialectRegistry &);
} // namespace NVVM
namespace scf {
void registerBufferDeallocationOpInterfaceExternalModels(DialectRegistry &);
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &);
void registerValueBoundsOpInterfaceExternalModels(DialectRegistry &);
} // namespace scf
namespace tensor {
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &);
void registerInferTypeOpInterfaceExternalModels(DialectRegistry &);
void registerSubsetOpInterfaceExternalModels(DialectRegistry &);
void registerValueBoundsOpInterfaceExternalModels(DialectRegistry &);
} // namespace tensor
namespace ub {
void registerConvertUBToLLVMInterface(DialectRegistry &);
} // namespace ub
namespace vector {
void registerConvertVectorToLLVMInterface(DialectRegistry &);
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &);
void registerSubsetOpInterfaceExternalModels(DialectRegistry &);
void registerValueBoundsOpInterfaceExternalModels(DialectRegistry &);
} // namespace vector
} // namespace mlir

extern "C" {
// Conversion to LLVM, translation to LLVM IR, inlining, bufferization and value bounds.
void girih_register_minimal_interfaces(MlirDialectRegistry registry) {
  using namespace mlir;
  using Register = void (*)(DialectRegistry &);
  for (Register add : {
           Register(registerBuiltinDialectTranslation),
           Register(registerGPUDialectTranslation),
           Register(registerLLVMDialectTranslation),
           Register(registerNVVMDialectTranslation),
           Register(registerConvertFuncToLLVMInterface),
           Register(registerConvertMathToLLVMInterface),
           Register(registerConvertMemRefToLLVMInterface),
           Register(registerConvertNVVMToLLVMInterface),
           Register(builtin::registerCastOpInterfaceExternalModels),
           Register(arith::registerConvertArithToLLVMInterface),
           Register(arith::registerBufferDeallocationOpInterfaceExternalModels),
           Register(arith::registerBufferViewFlowOpInterfaceExternalModels),
           Register(arith::registerBufferizableOpInterfaceExternalModels),
           Register(arith::registerValueBoundsOpInterfaceExternalModels),
           Register(affine::registerValueBoundsOpInterfaceExternalModels),
           Register(bufferization::func_ext::registerBufferizableOpInterfaceExternalModels),
           Register(cf::registerConvertControlFlowToLLVMInterface),
           Register(cf::registerBufferDeallocationOpInterfaceExternalModels),
           Register(cf::registerBufferizableOpInterfaceExternalModels),
           Register(func::registerInlinerExtension),
           Register(gpu::registerBufferDeallocationOpInterfaceExternalModels),
           Register(gpu::registerValueBoundsOpInterfaceExternalModels),
           Register(index::registerConvertIndexToLLVMInterface),
           Register(linalg::registerBufferizableOpInterfaceExternalModels),
           Register(linalg::registerSubsetOpInterfaceExternalModels),
           Register(LLVM::registerInlinerInterface),
           Register(memref::registerAllocationOpInterfaceExternalModels),
           Register(memref::registerBufferViewFlowOpInterfaceExternalModels),
           Register(memref::registerMemorySlotExternalModels),
           Register(memref::registerValueBoundsOpInterfaceExternalModels),
           Register(NVVM::registerConvertGpuToNVVMInterface),
           Register(NVVM::registerInlinerInterface),
           Register(scf::registerBufferDeallocationOpInterfaceExternalModels),
           Register(scf::registerBufferizableOpInterfaceExternalModels),
           Register(scf::registerValueBoundsOpInterfaceExternalModels),
           Register(tensor::registerBufferizableOpInterfaceExternalModels),
           Register(tensor::registerInferTypeOpInterfaceExternalModels),
           Register(tensor::registerSubsetOpInterfaceExternalModels),
           Register(tensor::registerValueBoundsOpInterfaceExternalModels),
           Register(ub::registerConvertUBToLLVMInterface),
           Register(vector::registerConvertVectorToLLVMInterface),
           Register(vector::registerBufferizableOpInterfaceExternalModels),
           Register(vector::registerSubsetOpInterfaceExternalModels),
           Register(vector::registerValueBoundsOpInterfaceExternalModels)})
    add(*unwrap(registry));
}
} // extern "C"
