import torch
from torch import nn
import torch.nn.functional as F


class MarkedHawkes(nn.Module):
    """Multivariate Hawkes process with one exponential kernel.

    lambda_m(t) = mu_m + sum_k alpha_mk * R_k(t),  R_k decays with beta_k and
    jumps by one at each event of mark k.  R is all that is known of the past.
    """

    def __init__(self, marks):
        super().__init__()
        self.marks = marks
        self.mu_ = nn.Parameter(torch.zeros(marks))
        self.alpha_ = nn.Parameter(torch.full((marks, marks), -2.0))
        self.beta_ = nn.Parameter(torch.zeros(marks))

    def start(self):
        return torch.zeros(self.marks)

    def forward(self, gaps, marks, trace):
        mu, alpha, beta = F.softplus(self.mu_), F.softplus(self.alpha_), F.softplus(self.beta_)
        ll = 0.0
        for dt, m in zip(gaps, marks):
            decay = torch.exp(-beta * dt)
            # integral of the intensity since the last event
            area = (mu * dt).sum() + (alpha @ (trace * (1 - decay) / beta)).sum()
            trace = trace * decay
            rate = mu + alpha @ trace
            ll = ll + torch.log(rate[m]) - area
            trace = trace + F.one_hot(m, self.marks).float()
        return ll, trace
