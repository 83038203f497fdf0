"""Forward hooks that keep what chosen layers put out."""


class ActivationTap:
    def __init__(self, model, layer_types):
        self.outputs = []
        self.handles = []
        for name, module in model.named_modules():
            if isinstance(module, layer_types):
                self.handles.append(module.register_forward_hook(self._hook))

    def _hook(self, module, args, output):
        if module.training:
            self.outputs.append(output)

    def penalty(self):
        return sum(out.abs().mean() for out in self.outputs) / len(self.handles)

    def close(self):
        for handle in self.handles:
            handle.remove()
