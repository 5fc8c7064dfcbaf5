// The mains of `mlir-opt` and `mlir-lsp-server`, over a registry that Rust filled.
#include "girih_ir.h"

#include "mlir/CAPI/Registration.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace girih;

extern "C" {
// `check` sees the input file's name ("-" for standard input) before anything is read; false ends with exit code 1.
int girih_opt_main(int argc, char **argv, MlirStringRef toolName, MlirDialectRegistry registry,
                   bool (*check)(MlirStringRef)) {
  llvm::InitLLVM init(argc, argv);
  auto [input, output] = registerAndParseCLIOptions(argc, argv, str(toolName), *unwrap(registry));
  if (!check(cstr(input)))
    return 1;
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, *unwrap(registry)));
}
int girih_lsp_main(int argc, char **argv, MlirDialectRegistry registry) {
  llvm::InitLLVM init(argc, argv);
  return failed(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
} // extern "C"
