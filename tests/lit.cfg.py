# The lit suite: every .mlir, .test and .ptx file below this folder and in examples/.
#
# `cargo xtask test --only lit` builds what the files run and then runs them; by hand, after a build, it is
# `lit-22 tests/tile/some-file.mlir`. In RUN lines stand girih, girih-opt and girih-lsp-server of the development build,
# ptxas and nvdisasm, and LLVM's FileCheck, not and split-file; each but LLVM's also as %girih, %girih_opt and so on.
# Features for REQUIRES: ptxas, nvdisasm, sim, gpu.
import os
import shutil

import lit.formats

llvm = "/usr/lib/llvm-22/bin"
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
target = lit_config.params.get("target_dir", os.environ.get("CARGO_TARGET_DIR", os.path.join(root, "target")))
bin_dir = lit_config.params.get("bin_dir", os.path.join(target, "debug"))
tools = os.path.join(target, "tools")

config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".ptx"]
config.excludes = ["Inputs", "hw", "standalone", "harness"]
# The same configuration serves examples/, whose lit.cfg.py says where it is.
config.test_source_root = getattr(config, "girih_source_root", here)
config.name = os.path.basename(config.test_source_root)
config.test_exec_root = os.path.join(target, "lit", config.name)

config.environment["PATH"] = os.pathsep.join([bin_dir, tools, llvm, os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"
# Messages are part of what is tested: none may depend on who runs the test.
config.environment["RUST_BACKTRACE"] = "0"
config.environment["NO_COLOR"] = "1"

for program in ["girih-opt", "girih-lsp-server", "girih"]:
    path = os.path.join(bin_dir, program)
    if not os.path.exists(path):
        lit_config.fatal(f"{path} is missing; build it with `cargo build --workspace --bins`")
    # Longer names first, so that %girih does not match the start of %girih_opt.
    config.substitutions.append((f"%{program}", path))
    config.substitutions.append((f"%{program.replace('-', '_')}", path))
for tool in ["ptxas", "nvdisasm"]:
    if shutil.which(tool, path=config.environment["PATH"]):
        config.substitutions.append((f"%{tool}", tool))
        config.available_features.add(tool)
config.substitutions.append(("%examples", os.path.join(root, "examples")))

# `lit-22 -D device=cuda examples tests/passes` moves the simulator's runs to a GPU, but for those that ask for its checks.
if device := lit_config.params.get("device"):
    checks = "check-memory|report|instruction-limit"
    config.substitutions.append((f"(?<!--check-memory )--device sim(?!.* --({checks}))", f"--device {device}"))

config.available_features.add("sim")
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("gpu")
