"""Arguments to run operations with: those that stand here for a name, or the first of a few that torch accepts."""

import io
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Recipe = Callable[[], tuple[Any, ...]]


def values(*shape: int, seed: int = 1, positive: bool = False) -> Tensor:
    """Numbers of both signs, each another one, with a graph behind them."""
    drawn = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) * 0.8 + 0.1
    signs = 1 if positive else 1 - 2 * (torch.arange(drawn.numel()).reshape(shape) % 2)
    return (drawn * signs).requires_grad_() * 1


def well_conditioned() -> Tensor:
    """A matrix that can be inverted and factored."""
    matrix = values(3, 3)
    return matrix @ matrix.mT + 3 * torch.eye(3)


def stored() -> io.BytesIO:
    """A file with a tensor in it."""
    file = io.BytesIO()
    torch.save(torch.zeros(3), file)
    file.seek(0)
    return file


def of(*shapes: tuple[int, ...], rest: tuple[Any, ...] = (), positive: bool = False) -> Recipe:
    """Tensors of these shapes, and what follows them."""
    return lambda: (*(values(*each, seed=n, positive=positive) for n, each in enumerate(shapes, 1)), *rest)


def several(*rest: Any) -> Recipe:
    """A list of tensors."""
    return lambda: ([values(3, 3), values(3, 3, seed=2)], *rest)


def after(*first: Any, shapes: tuple[tuple[int, ...], ...] = ()) -> Recipe:
    """Something that is no tensor with a graph, then tensors."""
    return lambda: (*first, *(values(*each, seed=n) for n, each in enumerate(shapes, 1)))


SQUARE, ROW, BATCH, IMAGE = (3, 3), (3,), (2, 3, 3), (1, 2, 4, 4)
INDEX = torch.tensor([0, 2])
INDICES = torch.tensor([[0, 1, 2]])
MASK = torch.eye(3, dtype=torch.bool)
CLASSES = torch.tensor([0, 2, 1])

DEFAULTS: tuple[Recipe, ...] = (
    of(SQUARE),
    of(SQUARE, SQUARE),
    of(SQUARE, rest=(0,)),
    of(SQUARE, rest=(0, 1)),
    of(ROW, ROW),
    of(SQUARE, SQUARE, SQUARE),
)

# Each line: names, and what to give them. A name may stand in several lines: its row must hold for each of them.
_LINES: tuple[tuple[str, Recipe], ...] = (
    ("cat stack hstack vstack dstack concat concatenate column_stack row_stack", several()),
    ("meshgrid broadcast_tensors block_diag cartesian_prod", of(ROW, ROW)),
    ("view expand broadcast_to unsafe_view", of(SQUARE, rest=((3, 3),))),
    ("reshape", of(SQUARE, rest=((9,),))),
    ("reshape_as", of(SQUARE, (9,))),
    ("view_as expand_as", of(SQUARE, SQUARE)),
    ("reshape_alias as_strided", of(SQUARE, rest=((3, 3), (3, 1)))),
    ("slice", of(SQUARE, rest=(0, 0, 2))),
    ("unflatten", of(SQUARE, rest=(0, (3, 1)))),
    ("narrow", of(SQUARE, rest=(0, 0, 2))),
    ("split split_with_sizes", of(SQUARE, rest=([1, 2],))),
    ("chunk tensor_split hsplit vsplit", of(SQUARE, rest=(3,))),
    ("select", of(SQUARE, rest=(0, 0))),
    ("permute", of(SQUARE, rest=((1, 0),))),
    ("transpose movedim moveaxis swapaxes swapdims", of(SQUARE, rest=(0, 1))),
    ("unsqueeze", of(SQUARE, rest=(0,))),
    ("repeat tile", of(SQUARE, rest=((2, 1),))),
    ("repeat_interleave", of(SQUARE, rest=(2,))),
    ("flip", of(SQUARE, rest=((0,),))),
    ("roll", of(SQUARE, rest=(1,))),
    ("unfold", of(SQUARE, rest=(0, 2, 1))),
    ("to type", of(SQUARE, rest=(torch.float32,))),
    ("type_as", of(SQUARE, SQUARE)),
    ("half", lambda: (values(3, 3).half(),)),
    ("double", lambda: (values(3, 3).double(),)),
    ("bfloat16", lambda: (values(3, 3).bfloat16(),)),
    ("view_as_real imag", lambda: (torch.complex(values(3, 3), values(3, 3, seed=2)),)),
    ("view_as_complex", of((3, 2))),
    ("item", of((1,))),
    ("numpy __array__", lambda: (torch.rand(3),)),
    ("add sub subtract rsub mul multiply div divide true_divide", of(SQUARE, SQUARE, positive=True)),
    ("mul multiply div divide true_divide", of(SQUARE, rest=(2.0,))),
    ("pow", of(SQUARE, rest=(2.0,))),
    ("pow", of(SQUARE, SQUARE, positive=True)),
    ("remainder fmod hypot atan2 arctan2 xlogy", of(SQUARE, SQUARE, positive=True)),
    ("clamp clip", of(SQUARE, rest=(0.0,))),
    ("clamp clip", of(SQUARE, SQUARE)),
    ("log log2 log10 log1p sqrt rsqrt lgamma digamma logit erfinv", of(SQUARE, positive=True)),
    ("acosh arccosh", lambda: (values(3, 3, positive=True) + 1,)),
    ("bernoulli poisson", of(SQUARE, positive=True)),
    ("normal", of(SQUARE, SQUARE, positive=True)),
    ("multinomial", of(ROW, rest=(1,), positive=True)),
    ("floor_divide heaviside", of(SQUARE, SQUARE, positive=True)),
    ("polygamma", lambda: (values(3, 3, positive=True), 1)),
    ("polygamma", lambda: (1, values(3, 3, positive=True))),
    ("softmax log_softmax softmin logsumexp logcumsumexp cumsum cumprod cummax cummin", of(SQUARE, rest=(0,))),
    ("gumbel_softmax", of(SQUARE)),
    ("max min median", of(SQUARE)),
    ("max min median", of(SQUARE, rest=(0,))),
    ("norm", of(SQUARE, rest=(2.0,))),
    ("dist", of(SQUARE, SQUARE, rest=(2.0,))),
    ("sum mean nansum nanmean amax amin prod std var", of(SQUARE)),
    ("mode sort", of(SQUARE)),
    ("kthvalue topk", of(SQUARE, rest=(1,))),
    ("logdet det slogdet cholesky", lambda: (well_conditioned(),)),
    ("mv", of(SQUARE, ROW)),
    ("dot vdot outer ger", of(ROW, ROW)),
    ("tensordot", of(SQUARE, SQUARE)),
    ("bmm", of(BATCH, BATCH)),
    ("baddbmm", of(BATCH, BATCH, BATCH)),
    ("addmv", of(ROW, SQUARE, ROW)),
    ("addr", of(SQUARE, ROW, ROW)),
    ("addmm addcmul", of(SQUARE, SQUARE, SQUARE)),
    ("linear matmul mm inner cdist", of(SQUARE, SQUARE)),
    ("bilinear", of(SQUARE, SQUARE, (2, 3, 3))),
    ("einsum", after("ij,jk->ik", shapes=(SQUARE, SQUARE))),
    ("conv1d conv_transpose1d", of((1, 2, 4), (2, 2, 2))),
    ("conv2d conv_transpose2d", of(IMAGE, (2, 2, 2, 2))),
    ("conv3d", of((1, 2, 3, 3, 3), (2, 2, 2, 2, 2))),
    ("convolution", of((1, 2, 4), (2, 2, 2), rest=(None, [1], [0], [1], False, [0], 1))),
    ("embedding", lambda: (INDEX, values(3, 3))),
    ("embedding", lambda: (values(3, 3), INDEX)),
    ("index", of(SQUARE, rest=([INDEX],))),
    ("index_select", of(SQUARE, rest=(0, INDEX))),
    ("gather", of(SQUARE, rest=(0, INDICES))),
    ("take", of(SQUARE, rest=(INDEX,))),
    ("masked_fill", of(SQUARE, rest=(MASK, 0.0))),
    ("masked_select", of(SQUARE, rest=(MASK,))),
    ("index_fill", of(SQUARE, rest=(0, INDEX, 0.0))),
    ("index_add index_copy", lambda: (values(3, 3), 0, INDEX, values(2, 3, seed=2))),
    ("scatter scatter_add", lambda: (values(3, 3), 0, INDICES, values(1, 3, seed=2))),
    ("where", lambda: (MASK, values(3, 3), values(3, 3, seed=2))),
    ("avg_pool1d max_pool1d", of((1, 2, 4), rest=(2,))),
    ("avg_pool2d max_pool2d adaptive_avg_pool2d adaptive_max_pool2d", of(IMAGE, rest=(2,))),
    ("pad", of(SQUARE, rest=((1, 1),))),
    ("layer_norm", lambda: (values(3, 3), (3,), values(3, seed=2))),
    ("native_layer_norm", lambda: (values(3, 3), (3,), values(3, seed=2), values(3, seed=3), 1e-5)),
    ("batch_norm", lambda: (values(3, 3), None, None, values(3, seed=2), None, True)),
    ("batch_norm", lambda: (values(3, 3), values(3, seed=2), None, None, None, True, 0.1, 1e-5, False)),
    ("group_norm", lambda: (values(1, 4), 2, values(4, seed=2))),
    ("instance_norm", of((1, 2, 4))),
    ("prelu", of(SQUARE, (1,))),
    ("glu", of((2, 4))),
    ("threshold", of(SQUARE, rest=(0.0, 0.0))),
    ("dropout", of(SQUARE, rest=(0.5,))),
    ("dropout", of(SQUARE, rest=(0.5, True))),
    ("mse_loss smooth_l1_loss huber_loss", of(SQUARE, SQUARE)),
    ("one_hot bincount", after(CLASSES)),
    ("searchsorted", lambda: (torch.arange(3.0), values(3))),
    ("bucketize", lambda: (values(3), torch.arange(3.0))),
    ("zeros ones empty rand randn", after((2, 2))),
    ("full", after((2, 2), 1.0)),
    ("randint", after(5, (2, 2))),
    ("randperm arange range eye", after(3)),
    ("range", after(0, 3)),
    ("linspace logspace", after(0, 1, 3)),
    ("tril_indices triu_indices", after(3, 3)),
    ("empty_strided", after((2, 2), (2, 1))),
    ("new_full", of(SQUARE, rest=((2, 2), 1.0))),
    ("new_zeros new_ones new_empty", of(SQUARE, rest=((2, 2),))),
    ("full_like", of(SQUARE, rest=(1.0,))),
    ("randint_like", of(SQUARE, rest=(5,))),
    ("tensor as_tensor asarray Tensor FloatTensor DoubleTensor", after([1.0, 2.0])),
    ("LongTensor", after([1, 2])),
    ("tensor", lambda: (values(1),)),
    ("new_tensor", lambda: (values(3), values(3))),
    ("from_numpy frombuffer", lambda: (torch.zeros(3).numpy(),)),
    ("load", lambda: (stored(),)),
    ("register_hook", of(SQUARE, rest=(id,))),
    ("register_post_accumulate_grad_hook", lambda: (torch.zeros(3, requires_grad=True), id)),
)
RECIPES: dict[str, tuple[Recipe, ...]] = {}
for _names, _recipe in _LINES:
    RECIPES |= {name: (*RECIPES.get(name, ()), _recipe) for name in _names.split()}
