"""Calls of libraries that train for their user, or go with torch."""

from gradsan.knowledge.call import calls

FRAMEWORK_CALLS = (
    *calls("walks", of="accelerate.Accelerator", names="backward"),
    *calls("wraps", of="accelerate.Accelerator", names="prepare"),
    *calls("limits", of="accelerate.Accelerator", names="clip_grad_norm_"),
    *calls("walks", of="lightning.LightningModule", names="manual_backward"),
    *calls("walks", of="lightning.Fabric", names="backward"),
    *calls("wraps", of="lightning.Fabric", names="setup setup_module setup_optimizers setup_dataloaders"),
    *calls("walks", of="deepspeed.DeepSpeedEngine", names="backward"),
    *calls("steps", "clears", of="deepspeed.DeepSpeedEngine", names="step"),
    *calls("caches", of="cachetools", names="cached"),
    *calls("optimizes", of="apex.optimizers", names="FusedAdam FusedSGD"),
    *calls("optimizes", of="bitsandbytes.optim", names="AdamW8bit Adam8bit Lion"),
    *calls("optimizes", of="timm.optim", names="Lamb Lookahead"),
    *calls("optimizes", of="torch_optimizer", names="AdaBelief Ranger Lamb Lookahead"),
    *calls("optimizes", of="transformers", names="Adafactor AdamW"),
    *calls("tells", of="torch.utils.tensorboard.SummaryWriter", names="add_scalar add_scalars"),
    *calls("tells", of="tqdm.tqdm", names="set_postfix set_description"),
)
