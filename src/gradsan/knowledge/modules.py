"""What the classes of torch.nn, torch.optim and their like are."""

# Modules of torch.nn without parameters.
WITHOUT_PARAMETERS = frozenset(
    """
    ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh Softmax LogSoftmax Softmax2d Softmin Softplus
    Softsign Softshrink Hardshrink Hardtanh Hardsigmoid Hardswish LogSigmoid Tanhshrink Threshold GLU RReLU Dropout
    Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Identity Flatten Unflatten MaxPool1d MaxPool2d
    MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
    AdaptiveMaxPool2d AdaptiveMaxPool3d LPPool1d LPPool2d FractionalMaxPool2d MaxUnpool2d Upsample
    UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle PixelUnshuffle ZeroPad1d ZeroPad2d ConstantPad1d
    ConstantPad2d ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d CosineSimilarity
    PairwiseDistance Fold Unfold ChannelShuffle LocalResponseNorm
    """.split()
)
LOSS_SUFFIX = "Loss"
CONTAINERS = frozenset(["Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"])

# The outputs of recurrent modules: (output, state); an LSTM's state is a pair.
PAIRS = {"LSTM": 2, "GRU": 1, "RNN": 1}
CELLS_WITH_PAIRS = frozenset(["LSTMCell"])
ATTENTION = frozenset(["MultiheadAttention"])
# They save their weight whatever comes in; other layers only if a history comes in.
SAVE_ALWAYS = frozenset(
    """
    LSTM GRU RNN LSTMCell GRUCell RNNCell MultiheadAttention Bilinear LayerNorm BatchNorm1d BatchNorm2d BatchNorm3d
    GroupNorm InstanceNorm2d Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer
    TransformerDecoderLayer
    """.split()
)
NEVER_SAVE = frozenset(["Embedding", "EmbeddingBag"])

# They give back the module that they were given, with something around it.
WRAPPERS = frozenset(
    """
    torch.nn.DataParallel torch.nn.parallel.DataParallel torch.nn.parallel.DistributedDataParallel
    torch.nn.utils.spectral_norm torch.nn.utils.weight_norm torch.nn.utils.parametrizations.spectral_norm
    torch.nn.utils.parametrizations.weight_norm torch.jit.script torch.jit.trace
    torch.nn.utils.parametrizations.orthogonal torch.autograd.Variable torch.nn.DistributedDataParallel copy.copy
    """.split()
)
PREPARERS = frozenset(["prepare", "setup", "setup_module", "setup_optimizers", "setup_dataloaders"])
PREPARING_RECEIVERS = ("accelerator", "fabric")

# `receiver.backward(loss)`: what the receivers are called, where their class is not known.
PASS_RECEIVERS = ("accelerator", "fabric", "engine", "scaler", "amp", "optim", "strategy", "trainer", "backend")
PASS_METHODS = frozenset(["backward", "manual_backward"])
# `engine.step()` updates the parameters and clears their gradients.
ENGINES = ("engine",)

OPTIMIZER_PACKAGES = ("torch.optim.", "torch_optimizer.", "bitsandbytes.optim.", "apex.optimizers.", "timm.optim.",
                      "transformers.optimization.", "transformers.")  # fmt: skip
OPTIMIZER_CLASSES = frozenset(
    """
    SGD Adam AdamW Adagrad Adadelta RMSprop Rprop LBFGS NAdam RAdam Adamax ASGD SparseAdam Adafactor Lion Lamb Muon
    FusedAdam FusedSGD AdamW8bit Adam8bit AdaBelief Ranger Lookahead SAM
    """.split()
)
LIBRARY_OF_OPTIMIZERS = "torch.optim"
LIGHTNING_BASES = ("LightningModule",)
