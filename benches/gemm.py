#!/usr/bin/env python3
"""GEMM C = A B in bf16: girih against cuBLAS (torch.matmul) in one process, on one GPU.

A is MxK row-major, B is KxN column-major, C is MxN row-major. Every shape is first checked against float64:
|C - ref| <= 1e-2 (|A| |B|) plus one bf16 unit in the last place. Then the two are launched alternately, the L2 cache
emptied before each launch, and the medians compared: only ratios from one run mean anything.
"""

import argparse
import ctypes
import json
import math
import pathlib
import statistics
import sys
import time

import torch

from girih import GirihError, Library, Program

# Of the sums in f32, relative to |A| |B|. A step of 64 that is left out of 8192 is five times past it.
TOLERANCE = 1e-4
# M x N x K, as in the peers' table.
SPEED_SHAPES = [
    (8192, 8192, 8192),
    (4096, 4096, 4096),
    (2048, 2048, 2048),
    (8192, 8192, 1024),
    (16384, 16384, 4096),
    (8192, 4096, 14336),
    (512, 8192, 8192),
    (64, 8192, 8192),
    (8100, 8100, 8104),
]
# Tiles that do not fill, primes (C is then written with guarded stores), K = 0, nothing at all, and one large.
CHECK_SHAPES = [
    (1, 1, 16), (1, 1, 8), (1, 8, 64), (8, 1, 64), (2, 3, 16), (7, 11, 40), (13, 17, 8), (31, 37, 72),
    (64, 64, 64), (64, 128, 64), (127, 127, 128), (128, 128, 64), (128, 256, 64), (128, 256, 8), (129, 257, 72),
    (131, 263, 136), (192, 320, 448), (251, 509, 1000), (255, 255, 256), (256, 256, 8), (256, 512, 1024),
    (257, 1, 512), (1, 257, 512), (499, 997, 2048), (512, 512, 0), (1, 1, 0), (0, 256, 64), (256, 0, 64),
    (1009, 1013, 1024), (1024, 1024, 1032), (2039, 2053, 4096), (3000, 1000, 520), (64, 8192, 8192),
    (8192, 64, 256), (8192, 8192, 8192),
]  # fmt: skip
# Rows that TMA cannot take: a kernel refuses them, or has another way.
UNALIGNED_SHAPES = [
    (128, 128, 63), (128, 128, 1), (256, 256, 100), (1, 1, 1), (5, 9, 333), (129, 257, 70), (257, 131, 65),
    (300, 520, 1001), (1009, 1013, 1021), (2039, 2053, 1026), (2047, 2049, 1028),
]  # fmt: skip


def parse_shape(text):
    m, n, k = (int(part) for part in text.lower().split("x"))
    return m, n, k


def operands(m, n, k, seed=0):
    """A, B and a C full of NaN."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    options = {"device": "cuda", "dtype": torch.bfloat16}
    a = torch.randn((m, k), generator=generator, **options)
    b = torch.randn((n, k), generator=generator, **options).t()
    # Empty tensors and single rows get strides that say nothing; these are what a dense matrix has.
    a = a.as_strided((m, k), (k, 1))
    b = b.as_strided((k, n), (1, k))
    return a, b, torch.full((m, n), math.nan, **options)


def ulp_bf16(values):
    exponent = torch.frexp(values.abs().clamp(min=2.0**-126))[1] - 1
    return torch.ldexp(torch.ones_like(values), exponent - 7)


def verify(a, b, c):
    """The largest error by its bound, and where; 1 or less is right. NaN is never right."""
    worst, place = 0.0, None
    b64, b_abs = b.double(), b.double().abs()
    step = 2048
    for start in range(0, a.shape[0], step):
        rows = a[start : start + step].double()
        reference, scale = rows @ b64, rows.abs() @ b_abs
        error = (c[start : start + step].double() - reference).abs()
        ratio = error / (TOLERANCE * scale + ulp_bf16(reference))
        ratio = torch.where(torch.isfinite(c[start : start + step]), ratio, torch.full_like(ratio, math.inf))
        if ratio.numel() and (largest := ratio.max().item()) >= worst:
            worst, flat = largest, int(ratio.argmax())
            row, column = divmod(flat, c.shape[1])
            place = (start + row, column, c[start + row, column].item(), reference[row, column].item())
    return worst, place


def check_shape(kernel, m, n, k):
    """`None` when right, else what is wrong."""
    a, b, c = operands(m, n, k)
    kernel.bind(a, b, c)(torch.cuda.current_stream().cuda_stream)
    torch.cuda.synchronize()
    worst, place = verify(a, b, c)
    if worst <= 1:
        return None
    row, column, got, want = place
    return f"C[{row}, {column}] = {got}, expected {want}: {worst:.2f} of what is allowed"


def check_all(kernel, shapes):
    wrong = 0
    for m, n, k in shapes:
        try:
            problem = check_shape(kernel, m, n, k)
        except GirihError as error:
            problem = f"refused: {error}"
        print(f"{'right' if problem is None else 'WRONG':6}{m}x{n}x{k}{'' if problem is None else ': ' + problem}")
        wrong += problem is not None
    for m, n, k in UNALIGNED_SHAPES:
        try:
            problem = check_shape(kernel, m, n, k)
            print(f"{'right' if problem is None else 'WRONG':6}{m}x{n}x{k}{'' if problem is None else ': ' + problem}")
            wrong += problem is not None
        except GirihError as error:
            print(f"right {m}x{n}x{k} is refused: {str(error).splitlines()[0]}")
    return wrong


class Timer:
    """Seconds of single launches, each after the L2 cache was overwritten.

    Lines that a kernel asked to keep (`evict_last`) outlive an overwriting; they are made ordinary ones before. What is
    overwritten takes so long that the launch behind it is in the queue by then.
    """

    def __init__(self):
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.empty(max(8 * l2, 1 << 20), dtype=torch.uint8, device="cuda")
        self.driver = ctypes.CDLL("libcuda.so.1")

    def record(self, launch):
        torch.cuda.synchronize()
        if error := self.driver.cuCtxResetPersistingL2Cache():
            raise RuntimeError(f"cuCtxResetPersistingL2Cache: CUDA error {error}")
        self.flush.zero_()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        launch()
        end.record()
        return start, end

    def interleave(self, launches, seconds, least=10, most=400):
        """For each launch the list of its times; rounds alternate in order and go on for about `seconds`."""
        for launch in launches:
            for _ in range(3):
                self.record(launch)
        torch.cuda.synchronize()
        times = [[] for _ in launches]
        begin = time.monotonic()
        while len(times[0]) < least or (len(times[0]) < most and time.monotonic() - begin < seconds):
            order = list(enumerate(launches))
            if len(times[0]) % 2:
                order.reverse()
            spans = [(i, self.record(launch)) for i, launch in order]
            torch.cuda.synchronize()
            for i, (start, end) in spans:
                times[i].append(start.elapsed_time(end) * 1e-3)
        return times


def host_microseconds(launch, repetitions=200):
    """Median time that the call itself takes on the host."""
    samples = []
    for _ in range(repetitions):
        begin = time.perf_counter_ns()
        launch()
        samples.append((time.perf_counter_ns() - begin) * 1e-3)
        torch.cuda.synchronize()
    return statistics.median(samples)


def measure(kernel, timer, shape, seconds):
    m, n, k = shape
    row = {"shape": f"{m}x{n}x{k}"}
    a, b, c = operands(m, n, k)
    out = torch.empty_like(c)
    launch = kernel.bind(a, b, c)
    stream = torch.cuda.current_stream().cuda_stream
    try:
        launch(stream)
    except GirihError as error:
        return row | {"error": str(error)}
    torch.cuda.synchronize()
    worst, place = verify(a, b, c)
    if worst > 1:
        return row | {"error": f"wrong result: {place}, {worst:.2f} of what is allowed"}
    ours, cublas = timer.interleave([lambda: launch(stream), lambda: torch.matmul(a, b, out=out)], seconds)
    flops = 2 * m * n * k
    pairs = sorted(theirs / mine for mine, theirs in zip(ours, cublas))
    return row | {
        "rounds": len(ours),
        "girih_us": statistics.median(ours) * 1e6,
        "cublas_us": statistics.median(cublas) * 1e6,
        "girih_tflops": flops / statistics.median(ours) * 1e-12,
        "cublas_tflops": flops / statistics.median(cublas) * 1e-12,
        "ratio": statistics.median(cublas) / statistics.median(ours),
        "ratio_quartiles": [pairs[len(pairs) // 4], pairs[3 * len(pairs) // 4]],
        "worst_of_bound": worst,
    }


def markdown(rows, header):
    lines = [
        header,
        "",
        "| M x N x K | girih TFLOP/s | cuBLAS TFLOP/s | girih/cuBLAS | quartiles | rounds |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['shape']} | {row['error'].splitlines()[0]} | | | | |")
            continue
        low, high = row["ratio_quartiles"]
        lines.append(
            f"| {row['shape']} | {row['girih_tflops']:.1f} | {row['cublas_tflops']:.1f} | {row['ratio']:.3f} "
            f"| {low:.3f} to {high:.3f} | {row['rounds']} |"
        )
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        lines += ["", f"Geometric mean of girih/cuBLAS over {len(ratios)} shapes: {mean:.3f}."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptx", help="compiled GEMM with the kernel `gemm` and arguments A, B, C")
    parser.add_argument("--kernel", default="gemm")
    parser.add_argument("--lib", help="libgirih_runtime.so (default: beside this folder)")
    parser.add_argument("--shapes", type=parse_shape, nargs="+", metavar="MxNxK", help="instead of the usual ones")
    parser.add_argument("--check", action="store_true", help="only check results, on many small and odd shapes")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each shape (default 2)")
    parser.add_argument("--out", metavar="PREFIX", help="write PREFIX.json and PREFIX.md")
    options = parser.parse_args()

    # The reference must not be computed in tf32, nor cuBLAS helped by bf16 sums.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    # Makes the CUDA context current, which the library then uses.
    torch.zeros(1, device="cuda")
    library = Library(options.lib)
    kernel = Program(options.ptx, library).kernel(options.kernel)
    kernel.program.load()

    if options.check:
        wrong = check_all(kernel, options.shapes or CHECK_SHAPES)
        print(f"{wrong} wrong" if wrong else "all right")
        return 1 if wrong else 0

    timer = Timer()
    rows = []
    for shape in options.shapes or SPEED_SHAPES:
        rows.append(measure(kernel, timer, shape, options.seconds))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    a, b, c = operands(128, 256, 64)
    launch, stream = kernel.bind(a, b, c), torch.cuda.current_stream().cuda_stream
    host = {"girih": host_microseconds(lambda: launch(stream)), "torch": host_microseconds(lambda: torch.matmul(a, b, out=c))}
    header = (
        f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, girih {library.raw.girih_version().decode()}. "
        f"A launch takes the host {host['girih']:.1f} us (torch.matmul: {host['torch']:.1f})."
    )
    table = markdown(rows, header)
    print(table)
    if options.out:
        prefix = pathlib.Path(options.out)
        report = {"device": header, "host_us": host, "rows": rows}
        prefix.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
        prefix.with_suffix(".md").write_text(table)
    return 1 if any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
