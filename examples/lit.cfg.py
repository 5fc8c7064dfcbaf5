# The examples are tests too, with the configuration of tests/.
import os

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
config.girih_source_root = os.path.join(root, "examples")
lit_config.load_config(config, os.path.join(root, "tests", "lit.cfg.py"))
