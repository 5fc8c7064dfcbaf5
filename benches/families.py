"""What `memory.py` measures of each kernel of `examples/`: its operands, what torch calls it, and what is right.

A family makes operands of a shape, says how many bytes or operations they are worth, what torch does, and checks an output
against float64 (or exactly, where results are exact). Shapes are those of the matrix X; M x N x K of a product.
"""

import math

import torch

import gemm

EPS = 1e-5


def randn(*size, dtype=torch.bfloat16, seed=0):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(size, generator=generator, device="cuda", dtype=dtype)


def dense(x):
    """A single row or column has strides that say nothing; this is what a dense matrix has."""
    return x.as_strided(x.shape, (x.shape[1], 1))


def unwritten(*size, dtype=torch.float32):
    """An output, so that what is not written shows."""
    out = torch.empty(size, device="cuda", dtype=dtype)
    spoil(out)
    return dense(out) if len(size) == 2 else out


def spoil(out):
    if out.dtype.is_floating_point and out.element_size() > 1:
        out.fill_(math.nan)
    else:
        out.view(torch.uint8).fill_(0x7F if out.dtype.is_floating_point else 0xEE)


def worst_of_rows(x, out, want, bound):
    """The largest error by its bound; some rows at a time, since float64 takes memory. `want` and `bound` take rows."""
    step, worst = max(1, (1 << 25) // max(1, x.shape[1])), 0.0
    for start in range(0, x.shape[0], step):
        part, got = x[start : start + step], out[start : start + step].double()
        expected = want(part)
        error = (got - expected).abs() / bound(part, expected)
        error = torch.where(torch.isfinite(got), error, torch.full_like(error, math.inf))
        worst = max(worst, error.max().item())
    return worst


def by_bound(worst):
    return None if worst <= 1 else f"{worst:.3g} of what is allowed"


class Family:
    """A kernel. Outputs are spoiled before each check."""

    # Rows that are no multiple of 16 bytes, and sizes that no tile divides.
    odd = [(1, 1), (3, 7), (127, 1000), (130, 1001), (3, 70001)]
    unit = "TB/s"
    scalars = ()

    def operands(self, shape):
        """Arrays that are read, arrays that are written."""
        return [dense(randn(*shape))], [unwritten(*shape, dtype=torch.bfloat16)]

    def arguments(self, args, outs):
        """The kernel's, in its order."""
        return [*args, *outs, *self.scalars]

    def work(self, args, outs):
        """Bytes read and written once."""
        return sum(a.numel() * a.element_size() for a in [*args, *outs])

    def reset(self, outs):
        for out in outs:
            spoil(out)


class Softmax(Family):
    def torch(self, args):
        return torch.softmax(args[0], dim=-1)

    def problem(self, args, outs):
        return by_bound(worst_of_rows(args[0], outs[0], lambda x: self.torch([x.double()]), lambda x, want: 5e-3 * want + 1e-30))


class Norm(Family):
    scalars = (EPS,)

    def __init__(self, centred):
        self.centred = centred

    def operands(self, shape):
        args, outs = super().operands(shape)
        return [*args, *[randn(shape[1], seed=i) for i in range(1, 3 if self.centred else 2)]], outs

    def torch(self, args):
        x, *rest = args
        functional = torch.nn.functional
        norm = functional.layer_norm if self.centred else functional.rms_norm
        return norm(x, (x.shape[1],), *rest, EPS)

    def problem(self, args, outs):
        rest = [a.double() for a in args[1:]]
        # Half a unit of bf16 is 2^-9; the sums are in f32.
        bound = lambda x, want: 5e-3 * want.abs() + 1e-3
        return by_bound(worst_of_rows(args[0], outs[0], lambda x: self.torch([x.double(), *rest]), bound))


class RowSum(Family):
    def operands(self, shape):
        return [dense(randn(*shape))], [unwritten(shape[0])]

    def torch(self, args):
        return args[0].sum(dim=1, dtype=torch.float32)

    def problem(self, args, outs):
        return by_bound(worst_of_rows(args[0], outs[0], lambda x: x.double().sum(dim=1), lambda x, want: 1e-5 * x.double().abs().sum(dim=1) + 1e-6))


class ColSum(Family):
    def operands(self, shape):
        return [dense(randn(*shape))], [unwritten(shape[1])]

    def torch(self, args):
        return args[0].sum(dim=0, dtype=torch.float32)

    def problem(self, args, outs):
        step = max(1, (1 << 25) // max(1, args[0].shape[1]))
        zero = torch.zeros_like(outs[0], dtype=torch.float64)
        want = sum((part.double().sum(dim=0) for part in args[0].split(step)), zero)
        bound = 1e-5 * sum((part.double().abs().sum(dim=0) for part in args[0].split(step)), zero) + 1e-6
        error = (outs[0].double() - want).abs() / bound
        return None if bool((error <= 1).all()) else by_bound(error.max().item()) or "NaN"


class Transpose(Family):
    def operands(self, shape):
        return [dense(randn(*shape))], [unwritten(shape[1], shape[0], dtype=torch.bfloat16)]

    def torch(self, args):
        return args[0].t().contiguous()

    def problem(self, args, outs):
        return None if torch.equal(outs[0], args[0].t()) else "not the transposed matrix"


class Argmax(Family):
    def operands(self, shape):
        # Few different numbers, so that the first of several counts.
        x = dense(randn(*shape, dtype=torch.float32).mul_(64).round_())
        return [x], [unwritten(shape[0], dtype=torch.int32)]

    def torch(self, args):
        return torch.argmax(args[0], dim=1)

    def problem(self, args, outs):
        x = args[0]
        places = torch.arange(x.shape[1], device="cuda", dtype=torch.int32)
        for rows, got in zip(x.split(1024), outs[0].split(1024)):
            first = torch.where(rows == rows.amax(dim=1, keepdim=True), places, x.shape[1]).amin(dim=1)
            if not torch.equal(first.int(), got):
                return "not the first of the largest"
        return None


class Cumsum(Family):
    def operands(self, shape):
        return [dense(randn(*shape, dtype=torch.float32))], [unwritten(*shape)]

    def torch(self, args):
        return torch.cumsum(args[0], dim=1)

    def problem(self, args, outs):
        bound = lambda x, want: 1e-5 * x.double().abs().cumsum(dim=1) + 1e-6
        return by_bound(worst_of_rows(args[0], outs[0], lambda x: x.double().cumsum(dim=1), bound))


class Gather(Family):
    """Rows of a table with half as many rows as are looked up."""

    def operands(self, shape):
        rows, columns = shape
        table = dense(randn(max(1, rows // 2), columns))
        generator = torch.Generator(device="cuda").manual_seed(1)
        numbers = torch.randint(table.shape[0], (rows,), generator=generator, device="cuda", dtype=torch.int32)
        return [table, numbers], [unwritten(rows, columns, dtype=torch.bfloat16)]

    def torch(self, args):
        return args[0].index_select(0, args[1])

    def work(self, args, outs):
        """Each row is read as often as it is asked for."""
        return args[1].numel() * 4 + 2 * outs[0].numel() * outs[0].element_size()

    def problem(self, args, outs):
        return None if torch.equal(outs[0], self.torch(args)) else "not the rows"


class Scatter(Family):
    """Rows to as many rows in another order; of twice as many, half stay as they are."""

    def operands(self, shape):
        x = dense(randn(*shape))
        generator = torch.Generator(device="cuda").manual_seed(1)
        numbers = torch.randperm(2 * shape[0], generator=generator, device="cuda")[: shape[0]].to(torch.int32)
        return [x, numbers], [unwritten(2 * shape[0], shape[1], dtype=torch.bfloat16)]

    def torch(self, args):
        out = torch.empty(2 * args[0].shape[0], args[0].shape[1], device="cuda", dtype=torch.bfloat16)
        return out.index_copy_(0, args[1].long(), args[0])

    def work(self, args, outs):
        """Each row is read once and written once."""
        return args[1].numel() * 4 + 2 * args[0].numel() * args[0].element_size()

    def problem(self, args, outs):
        return None if torch.equal(outs[0].index_select(0, args[1]), args[0]) else "not the rows"


class Histogram(Family):
    """X of rows x columns numbers, counted in 1,024 places."""

    places = 1024

    def operands(self, shape):
        generator = torch.Generator(device="cuda").manual_seed(1)
        x = torch.randint(self.places, (shape[0] * shape[1],), generator=generator, device="cuda", dtype=torch.int32)
        return [x], [torch.zeros(self.places, device="cuda", dtype=torch.int32)]

    def reset(self, outs):
        outs[0].zero_()

    def torch(self, args):
        return torch.bincount(args[0], minlength=self.places)

    def problem(self, args, outs):
        return None if torch.equal(outs[0].long(), self.torch(args)) else "not the counts"


class Quantize(Family):
    odd = [(1, 1), (3, 7), (127, 1000), (130, 1001), (3, 4096)]

    def operands(self, shape):
        return [dense(randn(*shape))], [unwritten(*shape, dtype=torch.float8_e4m3fn), unwritten(shape[0])]

    def torch(self, args):
        x = args[0].float()
        s = x.abs().amax(dim=1, keepdim=True).clamp(min=1e-30) / 448
        return (x / s).to(torch.float8_e4m3fn), s

    def problem(self, args, outs):
        x, (q, s) = args[0].double(), outs
        want = x.abs().amax(dim=1).clamp(min=1e-30) / 448
        if not bool(((s.double() - want).abs() <= 1e-6 * want).all()):
            return "wrong scales"
        # Half a step of e4m3: 2^-4 relatively, 2^-10 among the smallest.
        error = (q.double() * s.double()[:, None] - x).abs()
        bound = x.abs() * 2.0**-4 * 1.0001 + s.double()[:, None] * 2.0**-10 * 1.0001
        return None if bool((error <= bound).all()) else "not the nearest e4m3 numbers"


class Gelu(Family):
    """Y = gelu(alpha X + B) of rows x columns elements."""

    alpha = 1.5
    scalars = (alpha,)

    def operands(self, shape):
        n = shape[0] * shape[1]
        return [randn(n, dtype=torch.float32), randn(n, seed=1)], [unwritten(n)]

    def torch(self, args):
        return torch.nn.functional.gelu(self.alpha * args[0] + args[1], approximate="tanh")

    def problem(self, args, outs):
        for x, b, got in zip(*[t.split(1 << 25) for t in (*args, outs[0])]):
            want = self.torch([x.double(), b.double()])
            # tanh.approx is within 2^-11.
            bound = 2.0**-11 * (self.alpha * x.double() + b.double()).abs() + 1e-5
            if not bool(((got.double() - want).abs() <= bound).all()):
                return "more than tanh.approx explains"
        return None


class Gemm(Family):
    odd = [(1, 1, 1), (5, 9, 333), (127, 127, 128), (129, 257, 70), (300, 520, 1001), (1009, 1013, 1024)]
    unit = "TFLOP/s"

    def operands(self, shape):
        a, b, c = gemm.operands(*shape)
        return [a, b], [c]

    def work(self, args, outs):
        """Operations."""
        return 2 * args[0].shape[0] * args[1].shape[1] * args[0].shape[1]

    def torch(self, args):
        return torch.matmul(*args)

    def problem(self, args, outs):
        return by_bound(gemm.verify(*args, outs[0])[0])


FAMILIES = {
    "softmax": Softmax(),
    "rmsnorm": Norm(centred=False),
    "layernorm": Norm(centred=True),
    "row_sum": RowSum(),
    "col_sum": ColSum(),
    "transpose": Transpose(),
    "argmax": Argmax(),
    "cumsum": Cumsum(),
    "gather": Gather(),
    "scatter": Scatter(),
    "histogram": Histogram(),
    "quantize": Quantize(),
    "gelu": Gelu(),
    "gemm": Gemm(),
}
