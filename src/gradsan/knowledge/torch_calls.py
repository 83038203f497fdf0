"""Calls of torch that are no operations on tensors: passes, steps, switches, wrappers."""

from gradsan.knowledge.call import calls

TORCH_CALLS = (
    *calls("walks", of="torch.Tensor", names="backward"),
    *calls("walks", of="torch.autograd", names="backward grad"),
    *calls("steps", of="torch.optim.Optimizer", names="step"),
    *calls("steps", of="torch.amp.GradScaler", names="step"),
    *calls("clears", of="torch.optim.Optimizer", names="zero_grad"),
    *calls("clears", of="torch.nn.Module", names="zero_grad"),
    *calls("edits", of="torch.nn.Module", names="load_state_dict"),
    *calls("limits", of="torch.nn.utils", names="clip_grad_norm_ clip_grad_value_"),
    *calls("limits", of="torch.amp.GradScaler", names="unscale_"),
    *calls("stops recording", of="torch", names="no_grad inference_mode"),
    *calls("records", of="torch", names="enable_grad"),
    *calls("switches recording", of="torch", names="set_grad_enabled"),
    *calls("wraps", of="torch.nn", names="DataParallel"),
    *calls("wraps", of="torch.nn.parallel", names="DataParallel DistributedDataParallel"),
    *calls("wraps", of="torch.nn.utils", names="spectral_norm weight_norm"),
    *calls("wraps", of="torch.nn.utils.parametrizations", names="spectral_norm weight_norm orthogonal"),
    *calls("wraps", of="torch.jit", names="script trace"),
    *calls("wraps", of="torch.autograd", names="Variable"),
    *calls("wraps", "compiles", of="torch", names="compile"),
    *calls("checkpoints", of="torch.utils.checkpoint", names="checkpoint checkpoint_sequential"),
    *calls("draws", of="torch.distributions.Distribution", names="sample sample_n"),
    *calls(
        "can draw with a graph",
        of="torch.distributions",
        names="""
        Beta Cauchy Chi2 Dirichlet Exponential Gamma HalfCauchy HalfNormal Laplace LogNormal LowRankMultivariateNormal
        MultivariateNormal Normal RelaxedBernoulli RelaxedOneHotCategorical StudentT Uniform
        """,
    ),
    *calls(
        "optimizes",
        of="torch.optim",
        names="""
        SGD Adam AdamW Adagrad Adadelta RMSprop Rprop LBFGS NAdam RAdam Adamax ASGD SparseAdam Adafactor Muon
        """,
    ),
    *calls("lists parameters", of="torch.nn.Module", names="parameters named_parameters"),
    *calls("loads data", of="torch.utils.data", names="DataLoader"),
)
