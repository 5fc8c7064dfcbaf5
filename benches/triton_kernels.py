"""Triton kernels to compare with: those of `memory.py`, each in several configurations, and products for `compile_time.py`.

`configurations(name, args, outs)` gives pairs of a text and a launch. Import fails where Triton is not installed.
"""

import triton
import triton.language as tl

EPS = 1e-5


@triton.jit
def softmax_row(X, Y, rows, n, stride_x, stride_y, R: tl.constexpr, BLOCK: tl.constexpr):
    """R rows of a program, which fit its registers."""
    row = tl.program_id(0) * R + tl.arange(0, R)
    column = tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (column[None, :] < n)
    x = tl.load(X + row[:, None].to(tl.int64) * stride_x + column[None, :], mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    y = e / tl.sum(e, axis=1)[:, None]
    tl.store(Y + row[:, None].to(tl.int64) * stride_y + column[None, :], y.to(tl.bfloat16), mask=mask)


@triton.jit
def softmax_loop(X, Y, n, stride_x, stride_y, BLOCK: tl.constexpr):
    """A row of any length, read twice."""
    row = tl.program_id(0).to(tl.int64)
    most = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + column, mask=column < n, other=-1e30, eviction_policy="evict_last").to(tl.float32)
        new = tl.maximum(most, x)
        total = total * tl.exp(most - new) + tl.exp(x - new)
        most = new
    largest = tl.max(most, axis=0)
    scale = 1 / tl.sum(total * tl.exp(most - largest), axis=0)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + column, mask=column < n, other=0.0, eviction_policy="evict_first").to(tl.float32)
        tl.store(Y + row * stride_y + column, (tl.exp(x - largest) * scale).to(tl.bfloat16), mask=column < n)


@triton.jit
def norm_row(X, W, B, Y, rows, n, stride_x, stride_y, eps, CENTRED: tl.constexpr, R: tl.constexpr, BLOCK: tl.constexpr):
    """R rows of a program, which fit its registers: LayerNorm if CENTRED, else RMSNorm, which has no B."""
    row = tl.program_id(0) * R + tl.arange(0, R)
    column = tl.arange(0, BLOCK)
    inside = column < n
    mask = (row[:, None] < rows) & inside[None, :]
    x = tl.load(X + row[:, None].to(tl.int64) * stride_x + column[None, :], mask=mask, other=0.0).to(tl.float32)
    if CENTRED:
        mean = tl.sum(x, axis=1) / n
        x = tl.where(mask, x - mean[:, None], 0.0)
    scale = tl.rsqrt(tl.sum(x * x, axis=1) / n + eps)
    w = tl.load(W + column, mask=inside, other=0.0).to(tl.float32)
    y = x * scale[:, None] * w[None, :]
    if CENTRED:
        y += tl.load(B + column, mask=inside, other=0.0).to(tl.float32)[None, :]
    tl.store(Y + row[:, None].to(tl.int64) * stride_y + column[None, :], y.to(tl.bfloat16), mask=mask)


@triton.jit
def norm_loop(X, W, B, Y, n, stride_x, stride_y, eps, CENTRED: tl.constexpr, BLOCK: tl.constexpr):
    """A row of any length, read twice."""
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + column, mask=column < n, other=0.0, eviction_policy="evict_last").to(tl.float32)
        total += x
        squares += x * x
    mean = 0.0
    square = tl.sum(squares, axis=0) / n
    if CENTRED:
        mean = tl.sum(total, axis=0) / n
        square -= mean * mean
    scale = tl.rsqrt(square + eps)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < n
        x = tl.load(X + row * stride_x + column, mask=inside, other=0.0, eviction_policy="evict_first").to(tl.float32)
        y = (x - mean) * scale * tl.load(W + column, mask=inside, other=0.0).to(tl.float32)
        if CENTRED:
            y += tl.load(B + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(Y + row * stride_y + column, y.to(tl.bfloat16), mask=inside)


@triton.jit
def row_sum(X, Y, n, stride_x, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        total += tl.load(X + row * stride_x + column, mask=column < n, other=0.0).to(tl.float32)
    tl.store(Y + row, tl.sum(total, axis=0))


@triton.jit
def col_sum(X, Y, rows, n, stride_x, part, ROWS: tl.constexpr, COLUMNS: tl.constexpr, SPLIT: tl.constexpr):
    """Columns of a program; with SPLIT, a part of the rows, added to a Y of zeros."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    first = tl.program_id(1) * part
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(first, min(first + part, rows), ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < rows) & (column[None, :] < n)
        total += tl.load(X + row[:, None].to(tl.int64) * stride_x + column[None, :], mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(total, axis=0)
    if SPLIT:
        tl.atomic_add(Y + column, total, mask=column < n, sem="relaxed")
    else:
        tl.store(Y + column, total, mask=column < n)


@triton.jit
def transpose(X, Y, rows, n, stride_x, stride_y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    x = tl.load(
        X + row[:, None].to(tl.int64) * stride_x + column[None, :],
        mask=(row[:, None] < rows) & (column[None, :] < n),
        other=0.0,
    )
    y = tl.trans(x)
    tl.store(
        Y + column[:, None].to(tl.int64) * stride_y + row[None, :],
        y,
        mask=(column[:, None] < n) & (row[None, :] < rows),
    )


@triton.jit
def _first_larger(a, i, b, j):
    take = (a > b) | ((a == b) & (i < j))
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def argmax(X, Y, n, stride_x, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    best = tl.full([BLOCK], -float("inf"), tl.float32)
    place = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + column, mask=column < n, other=-float("inf"))
        larger = x > best
        best, place = tl.where(larger, x, best), tl.where(larger, column, place)
    _, at = tl.reduce((best, place), 0, _first_larger)
    tl.store(Y + row, at)


@triton.jit
def cumsum(X, Y, n, stride_x, stride_y, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    before = 0.0
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + column, mask=column < n, other=0.0)
        tl.store(Y + row * stride_y + column, tl.cumsum(x, 0) + before, mask=column < n)
        before += tl.sum(x, 0)


@triton.jit
def gather(X, I, Y, rows, n, stride_x, stride_y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    number = tl.load(I + row, mask=row < rows, other=0).to(tl.int64)
    mask = (row[:, None] < rows) & (column[None, :] < n)
    x = tl.load(X + number[:, None] * stride_x + column[None, :], mask=mask)
    tl.store(Y + row[:, None].to(tl.int64) * stride_y + column[None, :], x, mask=mask)


@triton.jit
def scatter(X, I, Y, rows, n, stride_x, stride_y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    number = tl.load(I + row, mask=row < rows, other=0).to(tl.int64)
    mask = (row[:, None] < rows) & (column[None, :] < n)
    x = tl.load(X + row[:, None].to(tl.int64) * stride_x + column[None, :], mask=mask)
    tl.store(Y + number[:, None] * stride_y + column[None, :], x, mask=mask)


@triton.jit
def histogram(X, H, n, BLOCK: tl.constexpr):
    """With an atomic addition for each element."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + at, mask=at < n, other=0)
    tl.atomic_add(H + x, tl.full([BLOCK], 1, tl.int32), mask=at < n, sem="relaxed")


@triton.jit
def histogram_counted(X, H, n, PLACES: tl.constexpr, BLOCK: tl.constexpr):
    """A program counts tiles as many apart as there are programs, and adds what it counted to memory once."""
    counts = tl.zeros([PLACES], tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(X + at, mask=at < n, other=0)
        counts += tl.histogram(x, PLACES, mask=at < n)
    tl.atomic_add(H + tl.arange(0, PLACES), counts, sem="relaxed")


@triton.jit
def quantize(X, Q, S, n, stride_x, stride_q, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    x = tl.load(X + row * stride_x + column, mask=column < n, other=0.0).to(tl.float32)
    s = tl.maximum(tl.max(tl.abs(x), 0), 1e-30) / 448.0
    tl.store(S + row, s)
    tl.store(Q + row * stride_q + column, (x / s).to(tl.float8e4nv), mask=column < n)


@triton.jit
def _tanh(u):
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=r,r", [u], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def gelu(X, B, Y, n, alpha, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    z = alpha * tl.load(X + at, mask=inside) + tl.load(B + at, mask=inside).to(tl.float32)
    u = 0.7978845608 * (z + 0.044715 * z * z * z)
    tl.store(Y + at, 0.5 * z * (1 + _tanh(u)), mask=inside)


@triton.jit
def gemm_pointers(A, B, C, M, N, K, stride_a, stride_b, stride_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """C = A B, A row-major, B column-major, through pointers."""
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    block = tl.program_id(0)
    group = block // (GROUP * tiles_n)
    group_rows = min(tiles_m - group * GROUP, GROUP)
    row = (group * GROUP + block % (GROUP * tiles_n) % group_rows) * BM
    column = (block % (GROUP * tiles_n) // group_rows) * BN
    at_m, at_n, at_k = row + tl.arange(0, BM), column + tl.arange(0, BN), tl.arange(0, BK)
    a = A + (at_m % M)[:, None] * stride_a + at_k[None, :]
    b = B + at_k[:, None] + (at_n % N)[None, :] * stride_b
    sums = tl.zeros([BM, BN], tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        sums = tl.dot(tl.load(a, mask=at_k[None, :] < left, other=0.0), tl.load(b, mask=at_k[:, None] < left, other=0.0), sums)
        a += BK
        b += BK
    tl.store(C + at_m[:, None] * stride_c + at_n[None, :], sums.to(tl.bfloat16), mask=(at_m[:, None] < M) & (at_n[None, :] < N))


@triton.jit
def gemm_descriptors(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """C = A B, A row-major, B column-major, all dense, through descriptors that the kernel makes."""
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    block = tl.program_id(0)
    group = block // (GROUP * tiles_n)
    group_rows = min(tiles_m - group * GROUP, GROUP)
    row = (group * GROUP + block % (GROUP * tiles_n) % group_rows) * BM
    column = (block % (GROUP * tiles_n) // group_rows) * BN
    a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [BM, BN])
    sums = tl.zeros([BM, BN], tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        sums = tl.dot(a.load([row, k * BK]), b.load([column, k * BK]).T, sums)
    c.store([row, column], sums.to(tl.bfloat16))


def by_rows(n):
    """Configurations for kernels that work along rows of n: rows and columns of a program (no rows: in a loop), warps."""
    whole = triton.next_power_of_2(n)
    if whole <= 2048:
        return [(r, whole, w) for r, w in [(1, 2), (1, 4), (2, 4), (2, 8), (4, 4), (4, 8), (8, 8), (1, 8)]]
    if whole <= 16384:
        return [(1, whole, w) for w in (4, 8, 16, 32)] + [(None, b, w) for b, w in [(2048, 8), (4096, 8), (4096, 16), (8192, 16)]]
    return [(1, whole, w) for w in (16, 32)] + [(None, b, w) for b, w in [(4096, 8), (8192, 8), (8192, 16), (8192, 32), (16384, 16), (16384, 32)]]


def configurations(name, args, outs):
    """A text and a launch for each configuration of a case of `memory.py`."""
    x, out = args[0], outs[0]
    rows, n = x.shape if x.dim() == 2 else (1, x.shape[0])
    made = []

    def add(text, launch):
        made.append((text, launch))

    if name == "softmax":
        for r, block, warps in by_rows(n):
            if r is None:
                add(f"loop {block}, {warps} warps", lambda b=block, w=warps: softmax_loop[(rows,)](x, out, n, x.stride(0), out.stride(0), BLOCK=b, num_warps=w))
            else:
                grid = (triton.cdiv(rows, r),)
                add(f"{r}x{block}, {warps} warps", lambda g=grid, r=r, b=block, w=warps: softmax_row[g](x, out, rows, n, x.stride(0), out.stride(0), R=r, BLOCK=b, num_warps=w))
    elif name in ("rmsnorm", "layernorm"):
        centred = name == "layernorm"
        w_, b_ = args[1], args[2] if centred else args[1]
        for r, block, warps in by_rows(n):
            if r is None:
                add(f"loop {block}, {warps} warps", lambda b=block, w=warps: norm_loop[(rows,)](x, w_, b_, out, n, x.stride(0), out.stride(0), EPS, CENTRED=centred, BLOCK=b, num_warps=w))
            else:
                grid = (triton.cdiv(rows, r),)
                add(f"{r}x{block}, {warps} warps", lambda g=grid, r=r, b=block, w=warps: norm_row[g](x, w_, b_, out, rows, n, x.stride(0), out.stride(0), EPS, CENTRED=centred, R=r, BLOCK=b, num_warps=w))
    elif name == "row_sum":
        for block, warps in [(2048, 4), (2048, 8), (4096, 4), (4096, 8), (8192, 8), (8192, 16), (16384, 16), (16384, 32)]:
            add(f"{block}, {warps} warps", lambda b=block, w=warps: row_sum[(rows,)](x, out, n, x.stride(0), BLOCK=b, num_warps=w))
    elif name == "col_sum":
        for tile_rows, columns, warps, parts in [(128, 64, 8, 1), (256, 64, 8, 1), (64, 128, 8, 1), (128, 128, 8, 1), (64, 128, 4, 8), (128, 128, 8, 8), (64, 256, 8, 16), (128, 64, 4, 4)]:
            grid = (triton.cdiv(n, columns), parts)
            part = triton.cdiv(rows, parts)

            def launch(grid=grid, part=part, r=tile_rows, c=columns, w=warps, split=parts > 1):
                if split:
                    out.zero_()
                col_sum[grid](x, out, rows, n, x.stride(0), part, ROWS=r, COLUMNS=c, SPLIT=split, num_warps=w)

            add(f"{tile_rows}x{columns}, {parts} parts, {warps} warps", launch)
    elif name == "transpose":
        for r, c, warps in [(64, 64, 4), (64, 64, 8), (128, 64, 4), (128, 64, 8), (64, 128, 4), (64, 128, 8), (128, 128, 8), (32, 128, 4)]:
            grid = (triton.cdiv(rows, r), triton.cdiv(n, c))
            add(f"{r}x{c}, {warps} warps", lambda g=grid, r=r, c=c, w=warps: transpose[g](x, out, rows, n, x.stride(0), out.stride(0), ROWS=r, COLUMNS=c, num_warps=w))
    elif name == "argmax":
        for block, warps in [(1024, 4), (2048, 4), (2048, 8), (4096, 4), (4096, 8), (8192, 8), (8192, 16), (16384, 16)]:
            add(f"{block}, {warps} warps", lambda b=block, w=warps: argmax[(rows,)](x, out, n, x.stride(0), BLOCK=b, num_warps=w))
    elif name == "cumsum":
        for block, warps in [(1024, 2), (1024, 4), (2048, 4), (2048, 8), (4096, 4), (4096, 8), (8192, 8), (8192, 16)]:
            add(f"{block}, {warps} warps", lambda b=block, w=warps: cumsum[(rows,)](x, out, n, x.stride(0), out.stride(0), BLOCK=b, num_warps=w))
    elif name in ("gather", "scatter"):
        kernel = gather if name == "gather" else scatter
        looked_up = args[1].shape[0]
        for r, c, warps in [(1, 1024, 4), (1, 2048, 4), (1, 4096, 4), (1, 4096, 8), (4, 1024, 4), (16, 256, 4), (8, 512, 4), (16, 512, 8)]:
            grid = (triton.cdiv(looked_up, r), triton.cdiv(n, c))
            add(f"{r}x{c}, {warps} warps", lambda g=grid, r=r, c=c, w=warps: kernel[g](x, args[1], out, looked_up, n, x.stride(0), out.stride(0), ROWS=r, COLUMNS=c, num_warps=w))
    elif name in ("histogram", "gelu"):
        n = x.numel()
        for block, warps in [(512, 4), (1024, 4), (1024, 8), (2048, 4), (2048, 8), (4096, 4), (4096, 8), (8192, 8)]:
            grid = (triton.cdiv(n, block),)
            if name == "gelu":
                add(f"{block}, {warps} warps", lambda g=grid, b=block, w=warps: gelu[g](x, args[1], out, n, 1.5, BLOCK=b, num_warps=w))
            else:
                add(f"{block}, {warps} warps", lambda g=grid, b=block, w=warps: histogram[g](x, out, n, BLOCK=b, num_warps=w))
        if name == "histogram":
            for block, warps, resident in [(1024, 4, 8), (1024, 4, 16), (2048, 4, 8), (2048, 4, 16), (2048, 8, 8), (4096, 4, 8), (4096, 8, 8), (8192, 8, 8), (8192, 16, 4)]:
                grid = (132 * resident,)
                add(f"counted {block}, {warps} warps, resident {resident}", lambda g=grid, b=block, w=warps: histogram_counted[g](x, out, n, PLACES=out.numel(), BLOCK=b, num_warps=w))
    elif name == "quantize":
        whole = triton.next_power_of_2(n)
        for warps in (2, 4, 8, 16):
            add(f"{whole}, {warps} warps", lambda w=warps: quantize[(rows,)](x, out, outs[1], n, x.stride(0), out.stride(0), BLOCK=whole, num_warps=w))
    elif name == "gemm":
        b = args[1]
        k, n = b.shape
        import torch

        triton.set_allocator(lambda size, align, stream: torch.empty(size, device="cuda", dtype=torch.int8))
        for bm, bn, warps, stages in [(128, 128, 4, 3), (128, 128, 8, 4), (128, 256, 8, 3), (128, 256, 8, 4), (256, 128, 8, 3), (256, 128, 8, 4)]:
            grid = (triton.cdiv(rows, bm) * triton.cdiv(n, bn),)
            add(
                f"descriptors {bm}x{bn}x64, {warps} warps, {stages} stages",
                lambda g=grid, bm=bm, bn=bn, w=warps, st=stages: gemm_descriptors[g](x, b.t(), out, rows, n, k, BM=bm, BN=bn, BK=64, GROUP=8, num_warps=w, num_stages=st),
            )
        for bm, bn, warps, stages in [(128, 128, 8, 4), (128, 256, 8, 3)]:
            grid = (triton.cdiv(rows, bm) * triton.cdiv(n, bn),)
            add(
                f"pointers {bm}x{bn}x64, {warps} warps, {stages} stages",
                lambda g=grid, bm=bm, bn=bn, w=warps, st=stages: gemm_pointers[g](x, b, out, rows, n, k, x.stride(0), b.stride(1), out.stride(0), BM=bm, BN=bn, BK=64, GROUP=8, num_warps=w, num_stages=st),
            )
    return made
