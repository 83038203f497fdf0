"""What the classes of torch.nn are: one row a class. A class without a row has parameters and gives a tensor.

To add a row, put the name into the line that says the same, or write a line; `pytest tests/knowledge` runs it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Output = Literal["tensor", "pair", "pair with a pair"]  # the second of a pair is often a state


@dataclass(frozen=True, slots=True)
class ModuleClass:
    """One row."""

    name: str
    parameters: bool = True
    bias: bool = True  # beside a weight, unless `bias=False` is asked for
    saves: bool = True  # a backward pass frees something of it
    saves_weight: Literal["always", "with a graph", "never"] = "with a graph"  # that comes in
    output: Output = "tensor"
    carries: bool = False  # it takes a state and gives the next one
    holds: bool = False  # other modules or parameters, and nothing of its own
    in_place_first: bool = False  # its first argument says whether it works in place
    op: str = ""  # that it is made of, where its name says another


def _rows(names: str, **facts: Any) -> Iterator[ModuleClass]:  # noqa: ANN401 # the fields of a row
    yield from (ModuleClass(name, **facts) for name in names.split())


TABLE = (
    *_rows("ReLU SiLU Hardswish Hardsigmoid Mish", parameters=False, in_place_first=True),
    *_rows("ReLU6", parameters=False, in_place_first=True, op="hardtanh"),
    *_rows("SELU", parameters=False, in_place_first=True, op="elu"),
    *_rows("RReLU", parameters=False, op="rreluwithnoise"),
    *_rows("Dropout Dropout1d Dropout2d Dropout3d", parameters=False, op="mul"),
    *_rows("AlphaDropout FeatureAlphaDropout", parameters=False, op="add"),
    *_rows(
        """
        LeakyReLU ELU CELU GELU Sigmoid Tanh Softmax LogSoftmax Softmax2d Softmin Softplus Softsign Softshrink
        Hardshrink Hardtanh LogSigmoid Tanhshrink Threshold GLU MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d
        AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
        AdaptiveMaxPool3d LPPool1d LPPool2d FractionalMaxPool2d MaxUnpool2d ReflectionPad1d ReflectionPad2d
        ReplicationPad1d ReplicationPad2d CosineSimilarity PairwiseDistance LocalResponseNorm
        """,
        parameters=False,
    ),
    *_rows(
        """
        Identity Flatten Unflatten Upsample UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle PixelUnshuffle
        ZeroPad1d ZeroPad2d ConstantPad1d ConstantPad2d Fold Unfold ChannelShuffle
        """,
        parameters=False,
        saves=False,
    ),
    *_rows("Sequential ModuleList ModuleDict ParameterList ParameterDict", parameters=False, holds=True),
    *_rows(
        """
        LayerNorm BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm Transformer TransformerEncoder
        TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer
        """,
        saves_weight="always",
    ),
    *_rows("GRU RNN MultiheadAttention AdaptiveLogSoftmaxWithLoss", saves_weight="always", output="pair"),
    *_rows("LSTM", saves_weight="always", output="pair with a pair"),
    *_rows("GRUCell RNNCell", carries=True),
    *_rows("LSTMCell", carries=True, output="pair"),
    *_rows("LinearCrossEntropyLoss"),
    *_rows("Embedding EmbeddingBag", bias=False, saves_weight="never"),
    *_rows("PReLU", bias=False, saves_weight="always"),
    *_rows("RMSNorm", bias=False),
)
_BY_NAME = {each.name: each for each in TABLE}
_ASSUMED = ModuleClass("?")
_A_LOSS = ModuleClass("?Loss", parameters=False)

_LAYERS = "torch.nn."
_NO_LAYERS = ("torch.nn.functional.", "torch.nn.init.", "torch.nn.utils.")
BASES = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module"})

# Methods that every module has, and that give the module itself back.
RETURN_THE_MODULE = frozenset(
    "train eval to cuda cpu half float double bfloat16 requires_grad_ apply share_memory type compile to_empty".split()
)
# Methods that only a module answers.
METHODS = frozenset(
    """
    parameters named_parameters train eval zero_grad state_dict load_state_dict requires_grad_ modules named_modules
    children named_children register_buffer buffers half cuda
    """.split()
)
# Of these, those that nothing else has: what is asked for one of them is a module.
PROOF = frozenset("parameters named_parameters state_dict named_modules modules".split())


def module_class(name: str) -> ModuleClass:
    """What is known of a class of torch.nn, or what is assumed of one of which nothing is."""
    return _BY_NAME.get(name, _A_LOSS if is_loss(name) else _ASSUMED)


def is_loss(name: str) -> bool:
    """Whether a class of torch.nn is a loss."""
    return name.endswith("Loss")


def creates_parameters(path: str) -> bool:
    """Whether a dotted name is that of a class of torch.nn that has parameters, or `torch.nn.Parameter` itself."""
    name = path.rpartition(".")[2]
    is_class = path.startswith(_LAYERS) and not path.startswith(_NO_LAYERS) and name[:1].isupper()
    row = module_class(name)
    return is_class and (row.parameters or row.holds)
