import random

import torch


class ImagePool:
    """Gives a mixture of the latest fakes and of earlier ones."""

    def __init__(self, pool_size):
        self.pool_size = pool_size
        self.images = []

    def query(self, images):
        chosen = []
        for image in images.split(1):
            if len(self.images) < self.pool_size:
                self.images.append(image)
                chosen.append(image)
            elif random.uniform(0, 1) > 0.5:
                index = random.randint(0, self.pool_size - 1)
                old = self.images[index].clone()
                self.images[index] = image
                chosen.append(old)
            else:
                chosen.append(image)
        return torch.cat(chosen, 0)
