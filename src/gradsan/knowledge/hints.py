"""What the names that people give to things of their own say, where nothing else is known. Guesses, and no rows."""

# In the name of a function: it cuts a graph.
CUTTING_WORDS = ("detach", "repackage", "truncate", "to_numpy", "tonumpy", "to_cpu", "stop_grad", "no_grad")
# In the name of a function: it gives state its initial value.
RESET_WORDS = ("reset", "detach", "repackage", "init_hidden", "clear_state", "zero_state")
# In the name of an attribute: it is one of the outputs of a module.
OUTPUT_WORDS = ("loss", "logit", "output", "hidden", "sample", "pred", "score", "feature", "embed")
# In the name of a callable: it is a loss.
LOSS_WORDS = ("loss", "criterion", "crit", "bce", "mse", "objective", "cross_entropy", "nll", "kld", "kl_div")
# In the name of a number that is computed and never read: it was to be a term of the loss.
TERM_WORDS = (
    "loss", "penalty", "regular", "balance", "smooth", "consisten", "commit", "entropy", "spars", "diverg", "divers",
    "ortho", "contrast", "triplet", "adversar", "perceptual", "recon", "objective", "constraint", "residual", "elbo",
)  # fmt: skip
# In the name of what a term of the loss is multiplied by.
WEIGHT_WORDS = ("weight", "coef", "lambda", "lambd", "lam", "beta")
OPTIMIZER_WORDS = ("opt", "optim", "solver")
NOT_OPTIMIZER_WORDS = ("sched", "option", "opts", "lr_")
# `receiver.backward(loss)`: what such receivers are called.
PASS_RECEIVERS = ("accelerator", "fabric", "engine", "scaler", "amp", "optim", "strategy", "trainer", "backend")
# Functions that only look, log or draw: they keep nothing and walk nothing.
HARMLESS = frozenset(
    """
    print len str repr format float int bool isinstance type id hash round abs log info debug warning error write
    log_dict log_metric log_metrics add_scalar add_scalars set_postfix set_description update_postfix isnan isinf
    isfinite step assert_ allclose plot
    """.split()
)
# Callables that are modules.
MODULE_NAMES = frozenset(
    """
    model net network encoder decoder generator discriminator critic actor policy classifier backbone netg netd
    net_g net_d g d gen disc student teacher module rnn lstm gru head policy_net value_net actor_critic ddp_model
    q_net qnet feature_extractor projector predictor transformer unet vae gan autoencoder embedder
    """.split()
)
