"""Second-order MAML: adapt to a new patient's dose-response curve from 8 points."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(31)

INNER_LR = 0.05
INNER_STEPS = 3
TASKS_PER_STEP = 4
META_STEPS = 60
SHOTS = 8


class Patient:
    """Sigmoid response with its own ceiling, slope and midpoint."""

    def __init__(self):
        self.top = 0.5 + torch.rand(1)
        self.slope = 2 + 4 * torch.rand(1)
        self.mid = -0.6 + 1.2 * torch.rand(1)

    def draw(self, n):
        dose = 2 * torch.rand(n, 1) - 1
        response = self.top * torch.sigmoid(self.slope * (dose - self.mid))
        return dose, response + 0.01 * torch.randn(n, 1)


class Curve(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x)


class MAML:
    def __init__(self, model, meta_lr):
        self.model = model
        # one learned step size per tensor (Meta-SGD)
        self.log_rates = nn.ParameterDict({
            name.replace(".", "_"): nn.Parameter(torch.tensor(INNER_LR).log())
            for name, _ in model.named_parameters()
        })
        self.meta_opt = torch.optim.Adam([
            {"params": model.parameters(), "lr": meta_lr},
            {"params": self.log_rates.parameters(), "lr": 0.3 * meta_lr},
        ])

    def adapt(self, dose, response, create_graph=True):
        fast = dict(self.model.named_parameters())
        for _ in range(INNER_STEPS):
            pred = functional_call(self.model, fast, (dose,))
            loss = F.mse_loss(pred, response)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=create_graph)
            fast = {
                name: weight - self.log_rates[name.replace(".", "_")].exp() * grad
                for (name, weight), grad in zip(fast.items(), grads)
            }
        return fast

    def meta_step(self, patients):
        self.meta_opt.zero_grad()
        query_loss = 0.0
        for patient in patients:
            fast = self.adapt(*patient.draw(SHOTS))
            dose, response = patient.draw(2 * SHOTS)
            query_loss = query_loss + F.mse_loss(functional_call(self.model, fast, (dose,)), response)
        query_loss = query_loss / len(patients)
        query_loss.backward()
        self.meta_opt.step()
        return query_loss.item()

    def evaluate(self, patients):
        before, after = 0.0, 0.0
        for patient in patients:
            fast = self.adapt(*patient.draw(SHOTS), create_graph=False)
            dose, response = patient.draw(64)
            with torch.no_grad():
                before += F.mse_loss(self.model(dose), response).item()
                after += F.mse_loss(functional_call(self.model, fast, (dose,)), response).item()
        return before / len(patients), after / len(patients)


def main():
    learner = MAML(Curve(), meta_lr=4e-3)
    smooth = None
    for step in range(META_STEPS):
        loss = learner.meta_step([Patient() for _ in range(TASKS_PER_STEP)])
        smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss
        if step % 10 == 0:
            print(f"meta step {step:3d}  query mse {smooth:.4f}")
    before, after = learner.evaluate([Patient() for _ in range(20)])
    print(f"new patients: {before:.4f} -> {after:.4f} after {INNER_STEPS} inner steps")


if __name__ == "__main__":
    main()
