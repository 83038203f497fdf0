"""Per-feature penalties of a logistic regression by implicit differentiation.

The inner problem fits the weights on the training set for the current log
penalties. The outer problem moves the log penalties along the hypergradient
of the validation loss; the inverse Hessian in it is approximated by a
truncated Neumann series of Hessian-vector products.
"""
import torch
import torch.nn.functional as F

torch.manual_seed(6)

N_FEATURES, N_USEFUL = 30, 5
INNER_STEPS, INNER_LR, NEUMANN_TERMS = 60, 0.5, 20


def make_split(n, w_true):
    x = torch.randn(n, N_FEATURES)
    y = (torch.sigmoid(2.0 * x @ w_true) > torch.rand(n)).float()
    return x, y


class PenalisedRegression:
    def __init__(self, train, valid):
        self.train = train
        self.valid = valid
        self.w = torch.zeros(N_FEATURES, requires_grad=True)
        self.log_penalty = torch.full((N_FEATURES,), -4.0, requires_grad=True)
        self.inner_opt = torch.optim.SGD([self.w], lr=INNER_LR)
        self.outer_opt = torch.optim.Adam([self.log_penalty], lr=0.2)

    def train_loss(self):
        x, y = self.train
        penalty = (self.log_penalty.exp() * self.w.pow(2)).sum()
        return F.binary_cross_entropy_with_logits(x @ self.w, y) + penalty

    def valid_loss(self):
        x, y = self.valid
        return F.binary_cross_entropy_with_logits(x @ self.w, y)

    def fit_inner(self):
        for _ in range(INNER_STEPS):
            loss = self.train_loss()
            (self.w.grad,) = torch.autograd.grad(loss, [self.w])
            self.inner_opt.step()
        return loss.item()

    def hypergradient(self):
        valid_loss = self.valid_loss()
        (v,) = torch.autograd.grad(valid_loss, [self.w])
        (dw,) = torch.autograd.grad(self.train_loss(), [self.w], create_graph=True)
        series = v.clone()
        for _ in range(NEUMANN_TERMS):
            (hvp,) = torch.autograd.grad(dw, [self.w], grad_outputs=v, retain_graph=True)
            v -= INNER_LR * hvp
            series += v
        (mixed,) = torch.autograd.grad(dw, [self.log_penalty], grad_outputs=INNER_LR * series)
        return -mixed, valid_loss.item()

    def outer_step(self):
        train_loss = self.fit_inner()
        self.log_penalty.grad, valid_loss = self.hypergradient()
        self.outer_opt.step()
        with torch.no_grad():
            self.log_penalty.clamp_(-8.0, 1.0)
        return train_loss, valid_loss


w_true = torch.zeros(N_FEATURES)
w_true[:N_USEFUL] = 1.0
problem = PenalisedRegression(make_split(60, w_true), make_split(120, w_true))
for it in range(15):
    train_loss, valid_loss = problem.outer_step()
    print(f"outer {it:2d}  train {train_loss:.4f}  valid {valid_loss:.4f}")
useful = problem.log_penalty[:N_USEFUL].mean().item()
useless = problem.log_penalty[N_USEFUL:].mean().item()
print(f"mean log penalty: useful {useful:.2f}, useless {useless:.2f}")
