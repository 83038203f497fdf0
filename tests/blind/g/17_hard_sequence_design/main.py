"""Design sequences that a fixed scorer likes, by relaxing the choice of letters."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH, LETTERS = 16, 4


class Scorer(nn.Module):
    """Stands for an expensive model that is already trained."""

    def __init__(self):
        super().__init__()
        self.motif = nn.Conv1d(LETTERS, 12, 5)
        self.out = nn.Linear(12, 1)

    def forward(self, one_hot):
        found = torch.relu(self.motif(one_hot.transpose(1, 2))).mean(2)
        return self.out(found).squeeze(1)


class Designer(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, LENGTH * LETTERS))

    def forward(self, z, temperature):
        logits = self.net(z).view(-1, LENGTH, LETTERS)
        soft = F.gumbel_softmax(logits, tau=temperature, hard=False)
        # the scorer needs real letters: hard in the forward pass, soft in the backward pass
        hard = F.one_hot(soft.argmax(-1), LETTERS).float()
        return hard, logits


def entropy(logits):
    log_p = logits.log_softmax(-1)
    return -(log_p.exp() * log_p).sum(-1).mean()


def main():
    torch.manual_seed(55)
    scorer = Scorer().requires_grad_(False)
    designer = Designer()
    optimizer = torch.optim.Adam(designer.parameters(), lr=1e-2)
    for iteration in range(80):
        temperature = max(0.5, 1.0 - iteration / 100)
        sequences, logits = designer(torch.randn(64, 6), temperature)
        score = scorer(sequences).mean()
        loss = -score
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if iteration % 16 == 15:
            print(f"iteration {iteration + 1}: score {score.item():.4f}, entropy {entropy(logits).item():.3f}")


if __name__ == "__main__":
    main()
