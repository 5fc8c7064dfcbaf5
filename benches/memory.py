#!/usr/bin/env python3
"""Every kernel of whole tiles in `examples/`: girih against Triton, torch and a plain copy in one process, on one GPU.

    python3 benches/memory.py generate DIR --girih target/debug/girih     # anywhere: examples/*.mlir in the sizes below, as PTX
    python3 benches/memory.py run DIR --out memory                        # on the GPU machine; writes memory.json, memory.md

Every case is first checked against torch in float64 (`families.py`), on the shape that is measured and, for girih, on odd ones. Then all
variants of girih, eight configurations of Triton (`triton_kernels.py`), torch and a copy of as many bytes are launched in
turn, order alternating, the L2 cache emptied before each launch; the figures are medians, the best variant counts for each
side, and only ratios of one run mean anything. Without Triton its columns stay empty.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys

import_error = None
try:
    import torch
except ImportError as error:  # `generate` does without
    import_error = error

ROOT = pathlib.Path(__file__).resolve().parent.parent

# example, rows and columns of its tile, threads of a block, blocks of a cluster that share a row, and where it is not left to
# the compiler, how many blocks a multiprocessor holds
SHORT = [(4, 1024, 128, 1), (4, 1024, 128, 1, 7), (2, 1024, 128, 1), (2, 1024, 128, 1, 10), (1, 1024, 64, 1), (1, 1024, 64, 1, 20)]
WHOLE = [(1, 8192, 512, 1), (1, 8192, 512, 1, 4), (1, 8192, 256, 1), (1, 8192, 256, 1, 3), (1, 8192, 256, 1, 5), *[(1, 8192, 128, 1, resident) for resident in (4, 5, 6)]]
# Less than a row at a time: it is read twice.
LOOPED = [(1, 4096, 512, 1), (1, 4096, 256, 1, 8), (1, 2048, 256, 1)]
SPLIT = [*[(1, 8192, 128, 8, resident) for resident in (4, 5, 6)], (1, 8192, 256, 8), (1, 8192, 256, 8, 5), (1, 16384, 256, 4), (1, 16384, 256, 4, 3)]
VARIANTS = {
    "softmax": [*SHORT, *WHOLE, *LOOPED, *SPLIT],
    "rmsnorm": [*SHORT, *WHOLE, *LOOPED, *SPLIT],
    "layernorm": [*SHORT, *WHOLE, *LOOPED, *SPLIT],
    "row_sum": [(1, 8192, 256, 1), (1, 8192, 512, 1), (1, 4096, 256, 1), (1, 16384, 512, 1)],
    "col_sum": [(128, 64, 256, 1), (256, 64, 256, 1), (256, 64, 512, 1), (128, 128, 256, 1)],
    "transpose": [(64, 64, 256, 1), (64, 64, 128, 1), (64, 128, 256, 1), (128, 64, 256, 1), (128, 128, 512, 1)],
    "gather": [(16, 256, 128, 1), (1, 4096, 128, 1)],
    # Blocks of a multiprocessor are those of the grid.
    "histogram": [(1, 4096, 256, 1, 8), (1, 8192, 256, 1, 8), (1, 4096, 512, 1, 4), (1, 8192, 512, 1, 4), (1, 8192, 1024, 1, 2), (1, 2048, 128, 1, 16)],
    # As they stand in the file.
    **{name: [()] for name in ("argmax", "cumsum", "scatter", "quantize", "gelu", "gemm")},
}
# example, shape, variants that run it
CASES = [
    *[
        (name, shape, variants)
        for name in ("softmax", "rmsnorm", "layernorm")
        for shape, variants in [((32768, 8192), [*WHOLE, *LOOPED]), ((65536, 1024), SHORT), ((4096, 65536), [(1, 8192, 256, 1), *SPLIT])]
    ],
    *[(name, (16384, 16384), VARIANTS[name]) for name in ("row_sum", "col_sum", "transpose", "argmax", "cumsum", "histogram", "gelu")],
    ("gather", (65536, 4096), VARIANTS["gather"]),
    ("scatter", (65536, 4096), VARIANTS["scatter"]),
    ("quantize", (65536, 4096), VARIANTS["quantize"]),
    # Rows that start anywhere: nothing is aligned.
    *[(name, (32768, 8191), WHOLE) for name in ("softmax", "rmsnorm", "layernorm")],
    ("softmax", (4096, 50257), SPLIT),
    *[(name, (16383, 16381), VARIANTS[name]) for name in ("row_sum", "transpose", "cumsum")],
    ("gather", (65536, 4095), VARIANTS["gather"]),
    ("scatter", (65536, 4095), VARIANTS["scatter"]),
    ("quantize", (65536, 4095), VARIANTS["quantize"]),
    ("gemm", (8192, 8192, 8192), VARIANTS["gemm"]),
]


def specialise(name, text, rows, columns, threads, cluster, resident=None):
    """An example's text with another tile: its own is 1 x 8192 with 256 threads, unless it says otherwise."""
    text = text.replace("threads(256)", f"threads({threads})").replace("cluster(1, 1, 1)", f"cluster({cluster}, 1, 1)")
    blocks = f" attributes {{min_blocks = {resident} : i64}}" if resident else ""
    text = re.sub(r"1, 1\)( attributes \{min_blocks = \d+ : i64\})? launch", f"1, 1){blocks} launch", text)
    if name == "transpose":
        text = text.replace("%tile_rows = arith.constant 64", f"%tile_rows = arith.constant {rows}")
        text = text.replace("%tile_columns = arith.constant 64", f"%tile_columns = arith.constant {columns}")
        text = text.replace("-> tensor<64x64xbf16>\n  %y", f"-> tensor<{rows}x{columns}xbf16>\n  %y")
        text = text.replace("[1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>", f"[1, 0] : tensor<{rows}x{columns}xbf16> -> tensor<{columns}x{rows}xbf16>")
        return text.replace("%i] : tensor<64x64xbf16>", f"%i] : tensor<{columns}x{rows}xbf16>")
    if name == "col_sum":
        text = text.replace("%c64 = arith.constant 64", f"%c64 = arith.constant {columns}").replace("tensor<64x", f"tensor<{columns}x")
        text = text.replace("%c128 = arith.constant 128", f"%c128 = arith.constant {rows}")
        return text.replace("tensor<128x64x", f"tensor<{rows}x{columns}x")
    if name == "gather":
        text = text.replace("%c16 = arith.constant 16", f"%c16 = arith.constant {rows}").replace("tensor<16xi32>", f"tensor<{rows}xi32>")
        return text.replace("%c256 = arith.constant 256", f"%c256 = arith.constant {columns}").replace("16x256x", f"{rows}x{columns}x")
    if name == "histogram":
        text = text.replace("threads(1024)", f"threads({threads})").replace("8192", str(columns))
        return text.replace("%most = arith.constant 264", f"%most = arith.constant {132 * resident}")
    lines = []
    for line in text.splitlines(keepends=True):
        if "%weight_row = " in line or "%bias_row = " in line:
            line = line.replace("8192", str(columns))
        elif "%weights = tile.broadcast" in line or "%biases = tile.broadcast" in line:
            line = re.sub(r"-> tensor<1x8192", f"-> tensor<{rows}x{columns}", line.replace("tensor<1x8192xf32> ->", f"tensor<1x{columns}xf32> ->"))
        elif not line.startswith("//"):
            line = line.replace("tensor<1x8192x", f"tensor<{rows}x{columns}x").replace("tensor<1x1x", f"tensor<{rows}x1x")
            line = line.replace("tensor<1xf32>", f"tensor<{rows}xf32>").replace("tensor<8192x", f"tensor<{columns}x")
            line = line.replace("%c8192 = arith.constant 8192", f"%c8192 = arith.constant {columns}")
            line = line.replace("%rows_each = arith.constant 1 ", f"%rows_each = arith.constant {rows} ")
        lines.append(line)
    return "".join(lines)


def stem_of(name, variant):
    if not variant:
        return name
    rows, columns, threads, cluster, *resident = variant
    text = f"{name}-{rows}x{columns}-{threads}" + (f"-c{cluster}" if cluster > 1 else "")
    return text + "".join(f"-m{n}" for n in resident)


def generate(folder, girih):
    folder.mkdir(parents=True, exist_ok=True)
    for name, variants in VARIANTS.items():
        text = (ROOT / "examples" / f"{name}.mlir").read_text()
        for variant in variants:
            stem = folder / stem_of(name, variant)
            stem.with_suffix(".mlir").write_text(specialise(name, text, *variant) if variant else text)
            subprocess.run([girih, "compile", stem.with_suffix(".mlir"), "-o", stem.with_suffix(".ptx")], check=True, stderr=subprocess.DEVNULL)
    return 0


def run(folder, seconds, out_prefix, only):
    from families import FAMILIES
    from gemm import Timer
    from girih import Library, Program

    try:
        import triton_kernels as peers
    except ImportError as error:
        peers = None
        print(f"without Triton: {error}")
    # Products of torch must not be computed in tf32, nor with bf16 sums.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.zeros(1, device="cuda")
    library, timer = Library(), Timer()
    stream = torch.cuda.current_stream().cuda_stream
    rows, wrong = [], 0
    kernels = {}
    for path in sorted(folder.glob("*.ptx")):
        name = path.stem.split("-")[0]
        if only and name not in only:
            continue
        family, kernel = FAMILIES[name], Program(path, library).kernel(name)
        kernels[path.stem] = kernel
        for shape in family.odd:
            args, outs = family.operands(shape)
            kernel.bind(*family.arguments(args, outs))(stream)
            torch.cuda.synchronize()
            if text := family.problem(args, outs):
                wrong += 1
                print(f"WRONG {path.stem} {shape}: {text}")
    for name, shape, variants in CASES:
        if only and name not in only:
            continue
        family = FAMILIES[name]
        args, outs = family.operands(shape)
        work, bytes_moved = family.work(args, outs), sum(a.numel() * a.element_size() for a in [*args, *outs])
        source = torch.empty(bytes_moved // 2, dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        sides = {"girih": {}, "triton": {}}
        stems = [stem_of(name, variant) for variant in variants]
        bound = {stem: kernels[stem].bind(*family.arguments(args, outs)) for stem in stems if stem in kernels}
        candidates = [("girih", stem, lambda launch=launch: launch(stream)) for stem, launch in bound.items()]
        if peers:
            candidates += [("triton", text, launch) for text, launch in peers.configurations(name, args, outs)]
        for side, text, launch in candidates:
            family.reset(outs)
            try:
                launch()
                torch.cuda.synchronize()
            except Exception as error:  # a configuration of Triton's that this GPU has no room for
                if side == "girih" or "out of resource" not in str(error).lower():
                    raise
                print(f"left out: {name} {shape}: {side} {text}: {error}")
                continue
            if wrong_by := family.problem(args, outs):
                wrong += 1
                print(f"WRONG {name} {shape}: {side} {text}: {wrong_by}")
                continue
            sides[side][text] = launch
        launches = [*sides["girih"].values(), *sides["triton"].values()]
        launches += [lambda: family.torch(args), lambda: target.copy_(source)]
        times = [statistics.median(t) for t in timer.interleave(launches, seconds)]
        rates = iter([work / t * 1e-12 for t in times[:-1]])
        row = {"case": name, "shape": "x".join(map(str, shape)), "unit": family.unit}
        for side, found in sides.items():
            row[side] = {text: next(rates) for text in found}
            row[f"{side}_best"], row[f"{side}_rate"] = max(row[side].items(), key=lambda item: item[1], default=("none", 0.0))
        row["torch"] = next(rates)
        # A copy says nothing about what is not bound by memory.
        row["copy"] = bytes_moved / times[-1] * 1e-12 if family.unit == "TB/s" else None
        others = {"triton": row["triton_rate"], "torch": row["torch"], "copy": row["copy"]}
        others["best"] = max(row["triton_rate"], row["torch"])
        row |= {f"of_{other}": row["girih_rate"] / rate if rate else None for other, rate in others.items()}
        rows.append(row)
        print(json.dumps(row), flush=True)
        del args, outs, source, target, bound, candidates, sides, launches
    compared = f"torch {torch.__version__}" + (f", Triton {peers.triton.__version__}" if peers else ", no Triton")
    table = markdown(rows, f"{torch.cuda.get_device_name(0)}, {compared}; TB/s of bytes read and written once, TFLOP/s of products.")
    print(table)
    if out_prefix:
        out_prefix.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
        out_prefix.with_suffix(".md").write_text(table)
    return 1 if wrong else 0


RATIOS = ("triton", "torch", "best", "copy")


def markdown(rows, header):
    """The table, and for each ratio its geometric mean and its least."""
    lines = [header, ""]
    lines += ["| kernel | shape | girih | variant | Triton | configuration | torch | copy | girih/Triton | girih/torch | girih/best | girih/copy |"]
    lines += ["|" + "---|" * 12]
    ratio = lambda value: "" if value is None else f"{value:.3f}"
    for row in rows:
        cells = [row["case"], row["shape"], f"{row['girih_rate']:.2f}", row["girih_best"].partition("-")[2]]
        cells += [f"{row['triton_rate']:.2f}", row["triton_best"]] if row["triton"] else ["", ""]
        cells += [f"{row['torch']:.2f}", f"{row['copy']:.2f}" if row["copy"] else "", *(ratio(row[f"of_{other}"]) for other in RATIOS)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "| girih against | geometric mean | least |", "|---|---|---|"]
    for other in RATIOS:
        values = [row[f"of_{other}"] for row in rows if row[f"of_{other}"]]
        if values:
            least = min((row for row in rows if row[f"of_{other}"]), key=lambda row: row[f"of_{other}"])
            mean = math.exp(statistics.fmean(map(math.log, values)))
            lines.append(f"| {other} | {mean:.3f} | {least[f'of_{other}']:.3f} ({least['case']} {least['shape']}) |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("generate", help="write and compile the kernels")
    make.add_argument("folder", type=pathlib.Path)
    make.add_argument("--girih", default="girih")
    measure = commands.add_parser("run", help="check and time them on this machine's GPU")
    measure.add_argument("folder", type=pathlib.Path)
    measure.add_argument("--seconds", type=float, default=2.0, help="time for each case (default 2)")
    measure.add_argument("--only", nargs="+", metavar="KERNEL", help="only these kernels")
    measure.add_argument("--out", type=pathlib.Path, metavar="PREFIX", help="write PREFIX.json and PREFIX.md")
    options = parser.parse_args()
    if options.command == "generate":
        return generate(options.folder, options.girih)
    if import_error:
        raise import_error
    return run(options.folder, options.seconds, options.out, options.only)


if __name__ == "__main__":
    sys.exit(main())
