"""Diagnosis that does not betray the hospital.

An encoder feeds a diagnosis head.  A site classifier tries to tell from the same
features which hospital a patient comes from; the encoder is rewarded when it fails.
The two sides take turns, each with its own optimizer and its own objective.
"""
import torch
import torch.nn.functional as F

from cohort import SITES, draw
from parts import Encoder, Head

torch.manual_seed(71)

CONFUSION = 0.3
ROUNDS = 25


class Trainer:
    def __init__(self, width=12):
        self.encoder = Encoder(width)
        self.diagnosis = Head(width, 2)
        self.site = Head(width, SITES)
        main_params = [*self.encoder.parameters(), *self.diagnosis.parameters()]
        self.main_opt = torch.optim.SGD(main_params, lr=0.1, momentum=0.8)
        self.site_opt = torch.optim.SGD(self.site.parameters(), lr=0.1)

    def learn_site(self, x, hospital):
        """The classifier's turn: features are given, as they are."""
        with torch.no_grad():
            features = self.encoder(x)
        site_cost = F.cross_entropy(self.site(features), hospital)
        site_cost.backward()
        self.site_opt.step()
        return site_cost.item()

    def learn_main(self, x, ill, hospital):
        """The encoder's turn: diagnose well and leave the classifier in the dark."""
        features = self.encoder(x)
        fit = F.cross_entropy(self.diagnosis(features), ill)
        betrayal = F.cross_entropy(self.site(features), hospital)
        self.main_opt.zero_grad()
        (fit - CONFUSION * betrayal).backward()
        self.main_opt.step()
        return fit.item()

    def accuracy(self, x, ill):
        with torch.no_grad():
            return (self.diagnosis(self.encoder(x)).argmax(1) == ill).float().mean().item()


def main():
    trainer = Trainer()
    x, ill, hospital = draw(300)
    for number in range(ROUNDS):
        rows = torch.randint(len(x), (60,))
        site_cost = trainer.learn_site(x[rows], hospital[rows])
        fit = trainer.learn_main(x[rows], ill[rows], hospital[rows])
        if number % 8 == 0:
            print(f"round {number:2d}: diagnosis {fit:.3f}, site {site_cost:.3f}")
    x, ill, _ = draw(200)
    print(f"accuracy on new patients {trainer.accuracy(x, ill):.2f}")


if __name__ == "__main__":
    main()
