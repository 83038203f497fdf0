"""Fit a Hawkes process to one long stream of support tickets (3 categories).

The stream is far too long to be differentiated at once, so it is cut in windows of
WINDOW events with one Adam step per window.  The excitation trace goes on from window
to window (the past does excite the present!), gradients stay inside their window.
"""
import torch
from hawkes import MarkedHawkes

WINDOW = 20


def synthetic_stream(n, marks=3):
    gaps = torch.empty(n).exponential_(1.5)
    burst = torch.rand(n) < 0.4
    gaps = torch.where(burst, gaps * 0.1, gaps)
    which = torch.randint(0, marks, (n,))
    for i in range(1, n):
        if burst[i]:
            which[i] = which[i - 1]
    return gaps, which


class Fitter:
    def __init__(self, model, lr=0.05):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.trace = None
        self.log = []

    def on_stream_start(self):
        self.trace = self.model.start()

    def fit_window(self, gaps, marks):
        ll, self.trace = self.model(gaps, marks, self.trace.detach())
        nll = -ll / len(gaps)
        self.opt.zero_grad()
        nll.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.opt.step()
        self.log.append(nll.item())

    def fit(self, gaps, marks, passes=2):
        for p in range(passes):
            self.on_stream_start()
            for i in range(0, len(gaps), WINDOW):
                self.fit_window(gaps[i:i + WINDOW], marks[i:i + WINDOW])
            print(f"pass {p}: nll of last window {self.log[-1]:.4f}")


if __name__ == "__main__":
    torch.manual_seed(21)
    gaps, marks = synthetic_stream(200)
    fitter = Fitter(MarkedHawkes(3))
    fitter.fit(gaps, marks)
    print("mean nll", sum(fitter.log) / len(fitter.log))
