"""What functions of torch and methods of tensors do to a history."""

from typing import Literal

# The result is numbers or Python objects: no history, and none was lost.
NOT_TENSORS = frozenset(
    """
    size shape dim ndim ndimension numel nelement dtype device is_cuda is_leaf requires_grad grad_fn layout type
    get_device element_size stride storage data_ptr is_contiguous names itemsize nbytes is_sparse is_floating_point
    is_complex isnan isinf isfinite any all equal allclose __len__ sign_bit retain_grad register_hook shape_as
    storage_offset untyped_storage is_pinned is_shared register_post_accumulate_grad_hook add_scalar add_scalars
    backward_hooks output_nr version
    """.split()
)

# Methods and attributes of a tensor whose result has lost the history of the tensor.
CUTTING_METHODS = frozenset(
    """
    detach item tolist numpy data argmax argmin argsort long int short bool byte char eq ne lt le gt ge nonzero sign
    round floor ceil new_zeros new_ones new_full new_empty new_tensor zero_like multinomial bernoulli bincount
    count_nonzero searchsorted isclose logical_and logical_or logical_not __array__
    """.split()
)
# Of these, those that give no tensor, but a number or another object of Python's.
PLAIN_RESULTS: dict[str, Literal["number", "other"]] = {
    "item": "number",
    "tolist": "other",
    "numpy": "other",
    "__array__": "other",
}
# Of these, those that say nothing about a mistake where their result is back-propagated: fresh values, not cut ones.
FRESH_METHODS = frozenset(["new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"])

# Functions of torch that make tensors from numbers, shapes or chance.
FRESH_FUNCTIONS = frozenset(
    """
    zeros ones empty full rand randn randint randperm arange linspace logspace eye tensor as_tensor from_numpy
    zeros_like ones_like empty_like full_like rand_like randn_like randint_like normal bernoulli tril_indices
    triu_indices range load frombuffer asarray empty_strided multinomial poisson meshgrid
    """.split()
)
# Functions of torch whose result never has a history, though an argument may.
CUTTING_FUNCTIONS = frozenset(
    """
    argmax argmin argsort eq ne lt le gt ge isnan isinf isfinite sign round floor ceil equal allclose nonzero
    logical_and logical_or logical_not logical_xor bincount histc count_nonzero searchsorted bucketize unique numel
    is_tensor is_floating_point isclose zeros_like ones_like empty_like full_like rand_like randn_like randint_like
    multinomial bernoulli one_hot
    """.split()
)
FRESH_BUT_COPIES = frozenset(["tensor", "as_tensor", "from_numpy", "asarray"])  # of numbers that had a history, perhaps

# They save nothing, so that passes can walk them any number of times.
NON_SAVING = frozenset(
    """
    add sub neg sum mean view reshape flatten squeeze unsqueeze transpose t permute expand expand_as repeat
    contiguous clone cat stack split chunk unbind select narrow movedim to float double half cpu cuda view_as
    requires_grad_ concat concatenate hstack vstack T mT type_as rearrange unflatten swapaxes numpy_T rsub alias
    squeeze_ unsqueeze_ add_ sub_ diagonal tril triu flip roll
    """.split()
)
# The result shares the memory of the first argument.
VIEWS = frozenset(
    """
    view reshape squeeze unsqueeze transpose t permute expand expand_as narrow select movedim view_as swapaxes
    diagonal unflatten flatten T mT chunk split unbind alias
    """.split()
)
# The result is the memory of the first argument, or may be: where there is nothing to do, nothing is copied.
FOLLOWING = VIEWS | frozenset("contiguous to float double half cpu cuda type_as rearrange requires_grad_".split())
# The gradient is computed from the result, which is kept for that.
SAVE_THEIR_RESULT = frozenset("softmax log_softmax exp sigmoid tanh sqrt rsqrt relu cholesky inverse".split())
SCALING = frozenset(
    """
    mul div truediv true_divide neg to float double half cpu cuda clone squeeze view reshape
    """.split()
)
ADDING = frozenset(["add", "sub"])
REDUCING = frozenset(["sum", "mean", "nansum", "nanmean"])

# Methods that change the tensor in place, beyond those that end in an underscore.
IN_PLACE_EXCEPTIONS = frozenset(
    """
    requires_grad_ retain_grad_ share_memory_ apply_ pin_memory_ rename_ detach_
    """.split()
)

# Functions that only look, log or draw: they keep nothing and walk nothing.
HARMLESS = frozenset(
    """
    print len str repr format float int bool isinstance type id hash round abs log info debug warning error write
    log_dict log_metric log_metrics add_scalar add_scalars set_postfix set_description update_postfix isnan isinf
    isfinite step assert_ allclose plot
    """.split()
)

# Words in the name of a function that say that it cuts a history, where its source cannot be seen.
CUTTING_WORDS = ("detach", "repackage", "truncate", "to_numpy", "tonumpy", "to_cpu", "stop_grad", "no_grad", "reduce_")
# Words in the name of a function that say that it gives state its initial value.
RESET_WORDS = ("reset", "detach", "repackage", "init_hidden", "clear_state", "zero_state")
# Words in the name of an attribute that say that it is one of the outputs of a module.
OUTPUT_WORDS = ("loss", "logit", "output", "hidden", "sample", "pred", "score", "feature", "embed")
# Words in the name of a callable that say that it is a loss.
LOSS_WORDS = ("loss", "criterion", "crit", "bce", "mse", "objective", "cross_entropy", "nll", "kld", "kl_div")
# Words in the name of a callable that say that it is a module.
MODULE_NAMES = frozenset(
    """
    model net network encoder decoder generator discriminator critic actor policy classifier backbone netg netd
    net_g net_d g d gen disc student teacher module rnn lstm gru head policy_net value_net actor_critic ddp_model
    q_net qnet feature_extractor projector predictor transformer unet vae gan autoencoder embedder
    """.split()
)
# Calls on something that only a module answers.
MODULE_METHODS = frozenset(
    """
    parameters named_parameters train eval zero_grad state_dict load_state_dict requires_grad_ modules named_modules
    children named_children register_buffer buffers half cuda
    """.split()
)
MODULE_PROOF = frozenset(["parameters", "named_parameters", "state_dict", "named_modules", "modules"])
OPTIMIZER_WORDS = ("opt", "optim", "solver")
NOT_OPTIMIZER_WORDS = ("sched", "option", "opts", "lr_")
