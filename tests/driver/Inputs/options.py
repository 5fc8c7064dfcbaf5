"""Checks that every option in the first file, a help of at most 100 lines, is one of the second, the list of all."""
import re
import sys

shown, known = (open(path).read() for path in sys.argv[1:])
assert shown.count("\n") <= 100, f"{shown.count(chr(10))} lines"
options = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", shown)) - {"--help-list", "--help-hidden"}
missing = sorted(option for option in options if not re.search(rf"\s{option}\b", known))
assert options and not missing, f"no options: {missing}"
