"""A one-shot detector's trainer.  Some images have no object at all; the matcher
refuses those with NoObjects, and such a batch is to be skipped and counted.
"""
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("detector")


class NoObjects(ValueError):
    pass


class Detector(nn.Module):
    def __init__(self, anchors=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 32), nn.ReLU())
        self.boxes = nn.Linear(32, anchors * 4)
        self.score = nn.Linear(32, anchors)

    def forward(self, x):
        h = self.body(x)
        return self.boxes(h).view(len(x), -1, 4), self.score(h)


def match(boxes, truth, present):
    """Index of the closest anchor for each image that has an object."""
    rows = present.nonzero().squeeze(1)
    if len(rows) == 0:
        raise NoObjects("nothing to match")
    distance = (boxes[rows] - truth[rows, None]).abs().sum(-1)
    return rows, distance.argmin(dim=1)


class Fit:
    def __init__(self, model, lr=0.01):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.skipped = 0

    def loss(self, x, truth, present):
        boxes, score = self.model(x)
        rows, anchor = match(boxes, truth, present)
        box_loss = F.smooth_l1_loss(boxes[rows, anchor], truth[rows])
        target = torch.zeros_like(score)
        target[rows, anchor] = 1.0
        return box_loss + F.binary_cross_entropy_with_logits(score, target)

    def run(self, batches):
        for i, batch in enumerate(batches):
            try:
                loss = self.loss(*batch)
            except NoObjects as problem:
                self.skipped += 1
                log.info("batch %d: %s", i, problem)
                continue
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            log.info("batch %d: loss %.4f", i, loss.item())


def batches(n=9, empty=(3, 6)):
    for i in range(n):
        present = torch.zeros(8, dtype=torch.bool)
        if i not in empty:
            present[:5] = True
        yield torch.randn(8, 24), torch.rand(8, 4), present


torch.manual_seed(31)
fit = Fit(Detector())
fit.run(batches())
log.info("skipped %d", fit.skipped)
