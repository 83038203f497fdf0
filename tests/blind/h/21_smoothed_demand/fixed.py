"""Demand forecast with learned exponential smoothing of linear signals, updated online, one day at a time."""
import torch


def simulate_days(days, d=6):
    truth = torch.tensor([0.8, -0.5, 0.3, 0.0, 0.6, -0.2])
    level = torch.zeros(())
    for _ in range(days):
        signals = torch.randn(d)
        level = 0.7 * level + 0.3 * (signals @ truth)
        yield signals, level + 0.02 * torch.randn(())


class OnlineForecaster:
    """level_t = 0.7 * level_{t-1} + 0.3 * w.x_t

    Yesterday's level is taken as given; the weights are corrected by the error of today's forecast.
    """

    def __init__(self, d, lr=0.03):
        self.w = torch.zeros(d, requires_grad=True)
        self.optimizer = torch.optim.SGD([self.w], lr=lr)
        self.level = torch.zeros(())

    def forecast(self, signals):
        self.level = 0.7 * self.level.detach() + 0.3 * (signals @ self.w)
        return self.level

    def observe(self, signals, demand):
        error = self.forecast(signals) - demand
        loss = 0.5 * (error / 0.3).square()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(12)
    model = OnlineForecaster(6)
    month = []
    for day, (signals, demand) in enumerate(simulate_days(160), 1):
        month.append(model.observe(signals, demand))
        if day % 40 == 0:
            print(f"day {day}: mean loss {sum(month) / len(month):.4f}  weights {model.w.detach().numpy().round(2)}")
            month.clear()


if __name__ == "__main__":
    main()
