#!/usr/bin/env python3
"""Compile time to PTX: girih beside Triton, ahead of time, without a GPU.

    cargo build --release -p girih --bin girih
    python3 benches/compile_time.py --girih target/release/girih --out compile_time     # writes compile_time.json and .md

Five families of kernels, each in a fresh process and in one that has compiled the same kernel before; medians, of the time on
the clock and of the processor's, which is what counts on a machine that others use. A fresh process of girih is timed from
its start to its end; of Triton only the first compilation counts, and what the import of its modules takes stands beside.
Both write PTX for sm_90a; what ptxas makes of it is timed apart. girih's kernels are the examples in the sizes below: as they
are, for any shape and stride, and once more told what Triton's are told by their signature, that addresses, sizes and strides are
multiples of 16 (`tile.aligned`, `tile.divisible`).
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
ROOT = pathlib.Path(__file__).resolve().parent.parent

# case, girih's example and its replacements, what the Triton kernel is called
CASES = [
    ("GEMM through pointers, 128x128x64", "gemm", {"256": "128"}, "gemm_pointers"),
    ("GEMM through descriptors, 128x256x64", "gemm", {}, "gemm_descriptors"),
    ("GEMM by hand, 128x256x64", "gemm_explicit", {}, "gemm_descriptors"),
    ("softmax of 8192 columns", "softmax", {}, "softmax"),
    ("rmsnorm of 8192 columns", "rmsnorm", {}, "rmsnorm"),
    ("layernorm of 8192 columns", "layernorm", {}, "layernorm"),
    ("transpose, 64x64", "transpose", {}, "transpose"),
]


def example(name, replacements):
    """An example's text; replaced are sizes of N, which are written as constants and in types."""
    text = (ROOT / "examples" / f"{name}.mlir").read_text()
    for old, new in replacements.items():
        text = text.replace(f"arith.constant {old} : index", f"arith.constant {new} : index")
        text = text.replace(f"x{old}x", f"x{new}x")
    return text


def cases():
    """Each case for any shape, and for multiples of 16 where that makes another kernel."""
    for case, name, replacements, kernel in CASES:
        text = example(name, replacements)
        yield case, name, text, kernel
        if name != "gemm_explicit":  # tensor maps need multiples of 16 anyway
            yield f"{case}; multiples of 16", name, specialised(text), kernel


def specialised(text):
    """The same for multiples of 16 alone, as the signatures of Triton's kernels have it."""
    memrefs = dict(re.findall(r"^(!\w+) = memref<([^,>]*)", text, re.M))

    def facts(argument):
        ones = ["1"] * (memrefs[argument[1]].count("x") - 1)
        return f"{argument[0]} {{tile.aligned = 16, tile.divisible = [{', '.join([*ones, '16'])}]}}"

    def header(line):
        return re.sub(r"%\w+: (!\w+)", lambda found: facts(found) if found[1] in memrefs else found[0], line[0])

    return re.sub(r"^tile\.kernel .*$", header, text, flags=re.M)


# ---------------------------------------------------------------------------------------------------------- Triton


def triton_sources():
    """For each kernel a function that gives its `ASTSource` and options."""
    from triton.compiler import ASTSource

    import triton_kernels as kernels

    pointer, divisible = "*bf16", [["tt.divisibility", 16]]

    def source(kernel, pointers, numbers, constants, extra=()):
        names = kernel.arg_names
        signature = {n: "constexpr" if n in constants else None for n in names}
        for n in names:
            if n in pointers:
                signature[n] = pointer
            elif n in numbers:
                signature[n] = "i32"
        signature.update(extra)
        attrs = {(i,): divisible for i, n in enumerate(names) if n in pointers or n in numbers}
        constexprs = {(names.index(n),): v for n, v in constants.items()}
        return ASTSource(kernel, signature, constexprs, attrs)

    row = ["n", "stride_x", "stride_y"]
    return {
        "gemm_pointers": (
            lambda: source(kernels.gemm_pointers, ["A", "B", "C"], ["M", "N", "K", "stride_a", "stride_b", "stride_c"], {"BM": 128, "BN": 128, "BK": 64, "GROUP": 8}),
            {"num_warps": 8, "num_stages": 4},
        ),
        "gemm_descriptors": (
            lambda: source(kernels.gemm_descriptors, ["A", "B", "C"], ["M", "N", "K"], {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8}),
            {"num_warps": 8, "num_stages": 4},
        ),
        "softmax": (lambda: source(kernels.softmax_row, ["X", "Y"], ["rows", *row], {"R": 1, "BLOCK": 8192}), {"num_warps": 8}),
        "rmsnorm": (
            lambda: source(kernels.norm_row, ["X", "W", "B", "Y"], ["rows", *row], {"CENTRED": False, "R": 1, "BLOCK": 8192}, {"eps": "fp32"}),
            {"num_warps": 8},
        ),
        "layernorm": (
            lambda: source(kernels.norm_row, ["X", "W", "B", "Y"], ["rows", *row], {"CENTRED": True, "R": 1, "BLOCK": 8192}, {"eps": "fp32"}),
            {"num_warps": 8},
        ),
        "transpose": (lambda: source(kernels.transpose, ["X", "Y"], ["rows", *row], {"ROWS": 64, "COLUMNS": 64}), {"num_warps": 8}),
    }


def triton_worker(name, runs):
    """Compiles `runs` times in this process, and prints the milliseconds of each step of each run."""
    begin = time.perf_counter()
    import triton
    from triton.backends.compiler import GPUTarget

    sources = triton_sources()
    imported = (time.perf_counter() - begin) * 1e3
    found = []

    def listener(*, times, **_):
        found.append({"front end": times.ir_initialization * 1e-3, **{stage: us * 1e-3 for stage, us in times.lowering_stages}})

    triton.knobs.compilation.listener = listener
    triton.knobs.compilation.always_compile = True
    make, options = sources[name]
    cpu = []
    for _ in range(runs):
        start = time.process_time()  # without ptxas, which is a process of its own
        triton.compile(make(), target=GPUTarget("cuda", 90, 32), options=options)
        cpu.append((time.process_time() - start) * 1e3)
    print(json.dumps({"import": imported, "runs": found, "cpu": cpu, "version": triton.__version__}))


def triton_times(python, name, runs):
    with tempfile.TemporaryDirectory() as cache:
        command = [python, __file__, "--triton-worker", name, "--runs", str(runs)]
        environment = {**os.environ, "TRITON_CACHE_DIR": cache}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "Triton failed")
    return json.loads(done.stdout.splitlines()[-1])


def to_ptx(run):
    return sum(ms for stage, ms in run.items() if stage != "cubin")


# ----------------------------------------------------------------------------------------------------------- girih


def girih_fresh(girih, file, out):
    """Milliseconds of a process, on the clock and of the processor."""
    begin = time.perf_counter()
    process = subprocess.Popen([girih, "compile", file, "-o", out], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{girih} compile {file}: exit code {process.returncode}")
    return (time.perf_counter() - begin) * 1e3, (used.ru_utime + used.ru_stime) * 1e3


def girih_warm(bench, files, runs):
    bench = [bench] if bench else ["cargo", "bench", "-q", "-p", "girih", "--bench", "compile", "--"]
    command = [*bench, str(runs), *map(str, files)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return {line["file"]: line["runs"] for line in map(json.loads, done.stdout.splitlines())}


def ptxas_ms(ptxas, ptx, out):
    begin = time.perf_counter()
    subprocess.run([ptxas, "-arch=sm_90a", ptx, "-o", out], check=True, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3


def find_ptxas(given):
    found = given or next(iter(sorted((ROOT / "target" / "tools").glob("ptxas"))), None)
    return str(found) if found else None


# ---------------------------------------------------------------------------------------------------------- report


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def measure(options):
    median = statistics.median
    ptxas = find_ptxas(options.ptxas)
    rows, versions = [], set()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = {}
        for case, name, text, _ in cases():
            files[case] = folder / f"{len(files)}-{name}.mlir"
            files[case].write_text(text)
        warm = girih_warm(options.warm, list(files.values()), options.runs) if options.runs else {}
        for case, name, _, kernel in cases():
            file, ptx = files[case], files[case].with_suffix(".ptx")
            row = {"case": case, "load": os.getloadavg()[0]}
            own, theirs, imports = [], [], []
            for _ in range(options.fresh):  # in turn, so that both see the same machine
                own.append(girih_fresh(options.girih, file, ptx))
                if options.triton:
                    try:
                        run = triton_times(options.triton, kernel, 1)
                        theirs.append((to_ptx(run["runs"][0]), run["cpu"][0]))
                        imports.append(run["import"])
                        versions.add(run["version"])
                    except RuntimeError as error:
                        print(f"{case}: Triton: {error}", file=sys.stderr)
                        break
            steps = warm.get(str(file), [])
            names = [n for n in steps[0] if n not in ("start", "cpu")] if steps else []
            row["girih"] = {
                "fresh": median(wall for wall, _ in own),
                "fresh_cpu": median(cpu for _, cpu in own),
                "stages": {n: median(run[n] for run in steps) for n in names},
            }
            if steps:
                row["girih"]["warm"] = median(sum(ms for n, ms in run.items() if n != "cpu") for run in steps)
                row["girih"]["warm_cpu"] = median(run["cpu"] for run in steps)
            if ptxas:
                row["girih"]["ptxas"] = median(ptxas_ms(ptxas, ptx, folder / "x.cubin") for _ in range(3))
            if theirs:
                many = triton_times(options.triton, kernel, max(options.runs, 2) + 1)
                again = many["runs"][1:]
                row["triton"] = {
                    "fresh": median(wall for wall, _ in theirs),
                    "fresh_cpu": median(cpu for _, cpu in theirs),
                    "warm_cpu": median(many["cpu"][1:]),
                    "import": median(imports),
                    "warm": median(map(to_ptx, again)),
                    "ptxas": median(run["cubin"] for run in again),
                    "stages": {n: median(run[n] for run in again) for n in again[0]},
                }
                for state in ("fresh", "warm", "fresh_cpu", "warm_cpu"):
                    if state not in row["girih"]:
                        continue
                    row[f"{state}_ratio"] = row["girih"][state] / row["triton"][state]
            rows.append(row)
            print(json.dumps(row), flush=True)
    header = f"{cpu()}, {os.cpu_count()} cores, load {min(r['load'] for r in rows):.1f} to {max(r['load'] for r in rows):.1f}; "
    header += f"Triton {', '.join(sorted(versions))}" if versions else "without Triton"
    return rows, header + f"; milliseconds, medians of {options.fresh} fresh and {options.runs} warm runs."


def markdown(rows, header):
    lines = [header, ""]
    lines += ["The processor's time:", "", "| kernel | girih, fresh process | Triton, first | ratio | girih, warm | Triton, warm | ratio |"]
    lines += ["|" + "---|" * 7]
    number = lambda value: "" if value is None else f"{value:.0f}"
    ratio = lambda value: "" if value is None else f"{value:.2f}"
    for row in rows:
        own, other = row["girih"], row.get("triton", {})
        cells = [row["case"], number(own["fresh_cpu"]), number(other.get("fresh_cpu")), ratio(row.get("fresh_cpu_ratio"))]
        cells += [number(own.get("warm_cpu")), number(other.get("warm_cpu")), ratio(row.get("warm_cpu_ratio"))]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "On the clock:", ""]
    lines += ["| kernel | girih, fresh process | Triton, first | ratio | girih, warm | Triton, warm | ratio | ptxas: girih | ptxas: Triton | import of Triton |"]
    lines += ["|" + "---|" * 10]
    for row in rows:
        own, other = row["girih"], row.get("triton", {})
        cells = [row["case"], number(own["fresh"]), number(other.get("fresh")), ratio(row.get("fresh_ratio"))]
        cells += [number(own.get("warm")), number(other.get("warm")), ratio(row.get("warm_ratio"))]
        cells += [number(own.get("ptxas")), number(other.get("ptxas")), number(other.get("import"))]
        lines.append("| " + " | ".join(cells) + " |")
    if any(row["girih"]["stages"] for row in rows):
        lines += ["", "Where girih's warm time goes, in ms:", "", "| kernel | steps of more than a millisecond |", "|---|---|"]
    for row in (row for row in rows if row["girih"]["stages"]):
        slow = sorted(((ms, n) for n, ms in row["girih"]["stages"].items() if ms > 1), reverse=True)
        lines.append(f"| {row['case']} | " + ", ".join(f"{n} {ms:.1f}" for ms, n in slow) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--girih", default=str(ROOT / "target/release/girih"))
    parser.add_argument("--warm", metavar="BENCH", help="girih's benchmark `compile`, built before; `cargo bench` otherwise")
    parser.add_argument("--triton", metavar="PYTHON", help="a Python that has Triton; left out: girih alone")
    parser.add_argument("--ptxas", help="ptxas for girih's PTX; the one in target/tools otherwise")
    parser.add_argument("--fresh", type=int, default=5, help="fresh processes for each case (default 5)")
    parser.add_argument("--runs", type=int, default=7, help="runs in one process for each case (default 7); 0 leaves girih's out")
    parser.add_argument("--out", type=pathlib.Path, metavar="PREFIX", help="write PREFIX.json and PREFIX.md")
    parser.add_argument("--triton-worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.triton_worker:
        triton_worker(options.triton_worker, options.runs)
        return 0
    rows, header = measure(options)
    table = markdown(rows, header)
    print(table)
    if options.out:
        options.out.with_suffix(".json").write_text(json.dumps({"machine": header, "rows": rows}, indent=1) + "\n")
        options.out.with_suffix(".md").write_text(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
