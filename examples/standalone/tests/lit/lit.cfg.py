# `cargo test` runs these files with the programs that it has just built.
import os

import lit.formats

config.name = "standalone"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(lit_config.params["scratch"], "lit")
path = [lit_config.params["bin_dir"], "/usr/lib/llvm-22/bin", os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
