"""Which libraries there are, what people call them, and what kind of thing their functions give."""

# Modules that everyone calls so, whatever else a program calls its own.
ALIASES = frozenset("torch F nn functional np numpy math".split())
# Of these, those of torch.
TORCH = frozenset("torch F nn functional".split())
# Whose functions take and give tensors, and keep graphs.
TENSOR_LIBRARIES = ("torch.", "einops.", "torch_scatter.", "torchvision.ops.", "torch_sparse.")
# Whose functions give bare numbers.
NUMBER_LIBRARIES = ("numpy.", "math.", "np.", "scipy.", "random.", "statistics.")
NUMPY = frozenset("np numpy".split())
STANDARD = ("builtins.", "functools.", "itertools.", "collections.", "copy.", "dataclasses.", "contextlib.", "typing.")
# Not read as if they were the user's own, though they lie beside the program.
NOT_FOLLOWED = frozenset(
    """
    torch torchvision torchaudio numpy scipy math random os sys time re json typing functools itertools collections
    copy dataclasses abc enum pathlib logging argparse warnings contextlib unittest pytest inspect types
    """.split()
)
# Parts of torch that neither take nor give a graph.
WITHOUT_GRAPHS = tuple(
    """
    torch.manual_seed torch.save torch.cuda. torch.backends. torch.distributed. torch.profiler. torch.set_
    torch.utils.tensorboard. torch.nn.init. torch.random. torch.device torch.get_ torch.is_ torch.finfo torch.iinfo
    torch.Size torch.Generator torch.nn.utils.clip torch.autograd.set_ torch.autograd.profiler
    torch.optim.lr_scheduler. torch.hub.
    """.split()
)
OPTIMIZER_PACKAGES = (
    "torch.optim.", "torch_optimizer.", "bitsandbytes.optim.", "apex.optimizers.", "timm.optim.",
    "transformers.optimization.", "transformers.",
)  # fmt: skip
LIGHTNING_BASES = ("LightningModule",)
CHECKPOINT_OPTIONS = frozenset("use_reentrant preserve_rng_state context_fn determinism_check debug early_stop".split())
