// The mains of `mlir-opt` and `mlir-lsp-server`, over a registry that Rust filled.
#include "girih_ir.h"

#include "mlir/CAPI/Registration.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace girih;

extern "C" {
// As MlirOptMain, but `check` sees the input's name and contents before the parser does; false ends with exit code 1.
int girih_opt_main(int argc, char **argv, MlirStringRef toolName, MlirDialectRegistry registry,
                   bool (*check)(MlirStringRef name, MlirStringRef contents)) {
  llvm::InitLLVM init(argc, argv);
  auto [inputName, outputName] = registerAndParseCLIOptions(argc, argv, str(toolName), *unwrap(registry));
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, inputName, outputName, *unwrap(registry)));
  if (inputName == "-" && llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n";
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &error);
  if (!input) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (!check(cstr(inputName), cstr(input->getBuffer())))
    return 1;
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputName, &error);
  if (!output) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (failed(MlirOptMain(output->os(), std::move(input), *unwrap(registry), config)))
    return 1;
  output->keep();
  return 0;
}
int girih_lsp_main(int argc, char **argv, MlirDialectRegistry registry) {
  llvm::InitLLVM init(argc, argv);
  return failed(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
} // extern "C"
