"""Loss scaling around backward and step, after the wrapper of image-model repositories."""
import torch


class NativeScaler:
    def __init__(self, init_scale=128.0, growth_interval=4):
        self._scale = init_scale
        self._growth_interval = growth_interval
        self._good_steps = 0

    def __call__(self, loss, optimizer, parameters, clip_grad=None, update_grad=True):
        (loss * self._scale).backward()
        if not update_grad:
            return None
        parameters = list(parameters)
        for p in parameters:
            if p.grad is not None:
                p.grad.div_(self._scale)
        norm = torch.nn.utils.clip_grad_norm_(parameters, clip_grad or float("inf"))
        optimizer.step()
        optimizer.zero_grad()
        self._good_steps += 1
        if self._good_steps % self._growth_interval == 0:
            self._scale *= 2
        return norm.item()

    def state_dict(self):
        return {"scale": self._scale, "good_steps": self._good_steps}
