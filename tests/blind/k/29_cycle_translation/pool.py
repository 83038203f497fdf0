import random

import torch


class ImagePool:
    """History of translated images (Shrivastava et al.)."""

    def __init__(self, size):
        self.size = size
        self.images = []

    def query(self, batch):
        out = []
        for image in batch:
            image = image.unsqueeze(0)
            if len(self.images) < self.size:
                self.images.append(image)
                out.append(image)
            elif random.random() > 0.5:
                i = random.randrange(self.size)
                out.append(self.images[i].clone())
                self.images[i] = image
            else:
                out.append(image)
        return torch.cat(out, 0)
