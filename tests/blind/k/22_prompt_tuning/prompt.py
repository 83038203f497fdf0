"""Context optimisation (CoOp): learned context vectors in front of the class name."""
import torch
import torch.nn as nn

VOCAB = {w: i for i, w in enumerate(
    "cat dog fish bird horse snake small red wild old".split())}


class PromptLearner(nn.Module):
    def __init__(self, text, n_ctx=4):
        super().__init__()
        width = text.tokens.embedding_dim
        self.ctx = nn.Parameter(torch.randn(n_ctx, width) * 0.02)
        self.lookup = text.tokens

    def forward(self, classnames):
        rows = []
        for name in classnames:
            ids = torch.tensor([VOCAB[w] for w in name.split()])
            rows.append(torch.cat([self.ctx, self.lookup(ids)], dim=0))
        longest = max(len(r) for r in rows)
        # left padding: the class word stays last
        rows = [torch.cat([r.new_zeros(longest - len(r), r.size(1)), r]) for r in rows]
        return torch.stack(rows)


class PromptedCLIP(nn.Module):
    """Frozen two-tower model with a learned prompt."""

    def __init__(self, clip, n_ctx=4):
        super().__init__()
        self.clip = clip.freeze()
        self.prompt = PromptLearner(clip.text, n_ctx)
        self._class_features = {}

    def class_features(self, classnames):
        key = tuple(classnames)
        if key not in self._class_features:
            self._class_features[key] = self.clip.text(self.prompt(classnames))
        return self._class_features[key]

    def forward(self, images, classnames):
        image_features = self.clip.visual(images)
        text_features = self.class_features(classnames)
        return self.clip.logit_scale.exp() * image_features @ text_features.t()
