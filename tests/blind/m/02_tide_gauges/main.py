"""Nowcast the water level of four tide gauges.

The records are read in blocks of twelve hours, the gauges in turn.  What the
network knows about a gauge is kept between its blocks; learning looks at one
block at a time.
"""
import torch
import torch.nn.functional as F

from net import TideNet
from records import GAUGES, blocks

torch.manual_seed(3)


def main():
    net = TideNet(hidden=10)
    opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)
    summaries = {}
    misses = {gauge: [] for gauge in GAUGES}

    for gauge, levels, following in blocks(days=5):
        guess, summary = net(levels, summaries.get(gauge))
        miss = F.smooth_l1_loss(guess, following)
        opt.zero_grad()
        miss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()

        summaries[gauge] = summary
        misses[gauge].append(miss.item())

    for gauge, values in misses.items():
        print(f"{gauge:10s} first {values[0]:.4f} last {values[-1]:.4f}")


if __name__ == "__main__":
    main()
