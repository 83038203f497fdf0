"""What methods and attributes of tensors, functions of torch and ops in the graph do: one row for each name.

To add a row, put the name into the line of the table that says what it does, or write a line of its own. Then run
`pytest tests/knowledge`: it runs the operation in every place in which torch has that name and compares. If it asks
for arguments, add the name to a line of `tests/knowledge/recipes.py`.

An operation without a row is taken for the usual case: it keeps the graph, gives new memory and saves something. So
only what differs from that, or of which a reader wants to know more, needs a row.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from gradsan.knowledge.operation import Operation

_BOTH, _FIRST, _SECOND = (0, 1), (0,), (1,)


def _rows(names: str, **facts: Any) -> Iterator[Operation]:  # noqa: ANN401 # the fields of a row
    yield from (Operation(name, **facts) for name in names.split())


_MEMORY = (
    *_rows(
        """
        view_as squeeze unsqueeze transpose t permute expand expand_as broadcast_to narrow select movedim moveaxis
        swapaxes swapdims diagonal unflatten adjoint as_strided unfold alias slice view view_as_real
        view_as_complex
        """,
        memory="shared",
        saves=False,
        linear="adds",
    ),
    *_rows("T mT H mH imag", attribute=True, memory="shared", saves=False, linear="adds"),
    *_rows("real", attribute=True, memory="itself if possible", saves=False, linear="adds"),
    *_rows("chunk split split_with_sizes unbind tensor_split hsplit vsplit", memory="shared", returns="tensors",
           saves=False, linear="adds"),
    *_rows("reshape reshape_as flatten ravel reshape_alias unsafe_view", memory="shared if possible", saves=False,
           linear="adds"),
    *_rows("contiguous to float double half bfloat16 cpu cuda type type_as conj conj_physical resolve_conj",
           memory="itself if possible", saves=False, linear="adds"),
    *_rows("resolve_neg positive atleast_1d atleast_2d to_dense", memory="itself if possible", saves=False,
           linear="adds"),
    *_rows("requires_grad_ share_memory_", memory="itself", saves=False, linear="adds"),
    *_rows("clone flip fliplr flipud roll rot90 to_copy", memory="copy", saves=False, linear="adds"),
    *_rows("meshgrid broadcast_tensors", memory="shared", returns="tensors", saves=False, linear="adds"),
)  # fmt: skip

_SUMS = (
    *_rows(
        """
        add sub subtract rsub cat concat concatenate stack hstack vstack dstack column_stack row_stack block_diag
        cartesian_prod cumsum cumulative_trapezoid diff trapezoid trapz diag diag_embed diagflat tril triu repeat tile
        repeat_interleave pad
        """,
        saves=False,
        linear="adds",
    ),
    *_rows("sum mean trace", saves=False, linear="adds", reduces=1),
    *_rows("nansum nanmean", inputs=_FIRST, linear="adds", reduces=1),
    *_rows("where scatter scatter_add index index_select masked_fill index_fill dropout", linear="adds"),
    *_rows("gather take masked_select", inputs=_FIRST, linear="adds"),
    *_rows("index_add index_copy", inputs=_SECOND, linear="adds"),
    *_rows("avg_pool1d avg_pool2d adaptive_avg_pool2d", inputs=_FIRST, linear="adds"),
)

_PRODUCTS = (
    *_rows("mul multiply", factors=_BOTH, linear="scales"),
    *_rows("neg negative deg2rad rad2deg", saves=False, linear="scales"),
    *_rows("div divide true_divide", factors=_FIRST, inputs=_SECOND, linear="scales"),
    *_rows("outer ger cross kron", factors=_BOTH),
    *_rows("matmul mm mv bmm linear einsum inner", factors=_BOTH, contracts=True),
    *_rows("dot vdot tensordot", factors=_BOTH, contracts=True, reduces=2),
    *_rows("addmm addmv baddbmm", factors=(1, 2), contracts=True),
    *_rows("addr addcmul", factors=(1, 2)),
    *_rows("embedding", linear="adds", contracts=True),
    *_rows("bilinear", factors=(0, 1, 2), contracts=True),
    *_rows("conv1d conv2d conv3d conv_transpose1d conv_transpose2d convolution", inputs=_BOTH, contracts=True),
    *_rows("cdist", inputs=_BOTH, saves_result=True, contracts=True),
)

_OF_THEIR_INPUT = (
    *_rows(
        """
        abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh celu cos cosh
        digamma elu erf erfc erfinv gelu glu hardshrink hardsigmoid hardswish hardtanh instance_norm leaky_relu lgamma
        log log10 log1p log2 logit logsigmoid matrix_exp max_pool1d max_pool2d adaptive_max_pool2d mish polygamma relu6
        rrelu selu silu sin sinc sinh softplus softshrink softsign square threshold normalize
        """,
        inputs=_FIRST,
    ),
    *_rows("var logdet", inputs=_FIRST, reduces=1),
    *_rows("atan2 arctan2 clamp clip maximum minimum fmax fmin logaddexp batch_norm layer_norm group_norm prelu xlogy",
           inputs=_BOTH),
    *_rows("native_layer_norm", inputs=(0, 1, 2), returns="triple"),
    *_rows("mse_loss smooth_l1_loss huber_loss", inputs=_BOTH, reduces=2),
    *_rows("fmod remainder", factors=_FIRST, inputs=_SECOND),
    *_rows("pow", inputs=_BOTH),  # by a number; by a tensor it saves its result, too
)  # fmt: skip

_OF_THEIR_RESULT = (
    *_rows(
        """
        exp exp2 expm1 sigmoid tanh tan sqrt rsqrt reciprocal relu softmax softmin log_softmax gumbel_softmax inverse
        cholesky
        """,
        saves_result=True,
    ),
    *_rows("hypot", inputs=_BOTH, saves_result=True),
    *_rows("dist", inputs=_BOTH, saves_result=True, reduces=3),
    *_rows("cumprod logcumsumexp logsumexp", inputs=_FIRST, saves_result=True),
    *_rows("amax amin prod std det nanmedian", inputs=_FIRST, saves_result=True, reduces=1),
    *_rows("max min median", reduces=1, returns="pair for a dimension"),
    *_rows("norm", saves_result=True, reduces=2),
    *_rows("topk sort mode kthvalue", returns="pair"),
    *_rows("qr eigh", saves_result=True, returns="pair"),
    *_rows("cummax cummin", inputs=_FIRST, returns="pair"),
    *_rows("slogdet", inputs=_FIRST, saves_result=True, returns="pair"),
    *_rows("svd", saves_result=True, returns="triple"),
)

# Their derivative is 0 wherever there is one. They keep the graph all the same, and so do draws from a distribution
# whose parameters have one.
_FLAT = (
    *_rows("round floor ceil sign trunc fix frac floor_divide heaviside bernoulli poisson normal unique", saves=False),
)

_WITHOUT_GRAPH = (
    *_rows("detach", graph="drops", memory="shared"),
    *_rows("data", attribute=True, graph="drops", memory="shared"),
    *_rows("detach_", graph="drops", memory="itself"),
    *_rows("item", graph="drops", returns="number"),
    *_rows("tolist numpy __array__", graph="drops", returns="object"),
    *_rows(
        """
        argmax argmin argsort argwhere nonzero count_nonzero eq ne lt le gt ge greater greater_equal less less_equal
        not_equal isclose isnan isinf isfinite isneginf isposinf isreal isin signbit any all logical_and logical_or
        logical_not logical_xor searchsorted bucketize bincount histc one_hot multinomial matrix_rank long int short
        byte char bool
        """,
        graph="ends",
    ),
    *_rows("equal allclose", graph="ends", returns="object"),
)

_NEW = (
    *_rows(
        """
        zeros ones empty full rand randn randint randperm arange range linspace logspace eye empty_strided tril_indices
        triu_indices zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_zeros new_ones
        new_full new_empty load
        """,
        graph="creates",
    ),
    *_rows("tensor new_tensor Tensor FloatTensor DoubleTensor LongTensor", graph="builds"),
    *_rows("as_tensor asarray from_numpy", graph="builds", memory="itself if possible"),
)

_DESCRIPTIONS = (
    *_rows(
        """
        shape ndim dtype device layout is_cuda is_leaf is_sparse requires_grad grad_fn itemsize nbytes output_nr
        """,
        attribute=True,
        graph="describes",
        returns="object",
    ),
    *_rows(
        """
        size dim ndimension numel nelement get_device element_size stride storage untyped_storage storage_offset
        data_ptr is_contiguous is_floating_point is_complex is_tensor is_pinned is_shared __len__ retain_grad
        register_hook register_post_accumulate_grad_hook
        """,
        graph="describes",
        returns="object",
    ),
)

TABLE = (
    *_MEMORY, *_SUMS, *_PRODUCTS, *_OF_THEIR_INPUT, *_OF_THEIR_RESULT, *_FLAT, *_WITHOUT_GRAPH, *_NEW, *_DESCRIPTIONS
)  # fmt: skip
_BY_NAME = {each.name: each for each in TABLE}
_ASSUMED = Operation("?")

# They end like an edit, and PyTorch does not count one: no backward pass will complain.
_UNCOUNTED = frozenset("requires_grad_ share_memory_ detach_ apply_ map_ map2_".split())
# Edits that no other method does without editing.
_ONLY_IN_PLACE = frozenset(
    """
    apply_ cauchy_ copy_ exponential_ fill_ fill_diagonal_ geometric_ log_normal_ map2_ map_ normal_ random_
    resize_as_sparse_ set_ sparse_resize_ sparse_resize_and_clear_ uniform_ zero_
    """.split()
)
# Edits whose result has nothing of the values that were there.
_OVERWRITING = frozenset("zero_ fill_ normal_ uniform_ random_ exponential_ cauchy_ log_normal_ geometric_".split())
# Types of numbers that have no gradients, as they are written.
WHOLE_TYPES = frozenset("long int int64 int32 int16 int8 uint8 bool short".split())


def operation(name: str) -> Operation:
    """What is known of an operation, or what is assumed of one of which nothing is."""
    return _BY_NAME.get(name, _ASSUMED)


def kinds(fact: Callable[[Operation], bool]) -> frozenset[str]:
    """The kinds of ops in the graph of which something is true: `UnsafeView` of the row `unsafe_view`."""
    return frozenset("".join(word.capitalize() for word in row.name.split("_")) for row in TABLE if fact(row))


@cache
def operation_of_node(kind: str) -> Operation:
    """What is known of an op in the graph, by its kind: `AddmmBackward0` is of the kind `Addmm`."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind)
    return operation(words.removeprefix("_"))


def edits(method: str) -> bool:
    """Whether a method changes its tensor in place, so that PyTorch counts it."""
    is_named_so = method[-1:] == "_" and "_" not in (method[:1], method[-2:-1])
    return is_named_so and method not in _UNCOUNTED


def has_twin(method: str) -> bool:
    """Whether what a method does in place is done by another one that gives a new tensor: `add_` by `add`."""
    return edits(method) and method not in _ONLY_IN_PLACE


def overwrites(method: str) -> bool:
    """Whether a method gives its tensor values that have nothing to do with the old ones."""
    return method in _OVERWRITING
