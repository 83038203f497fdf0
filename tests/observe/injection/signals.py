"""`python -m observe.injection.signals 1000`: so many signals whose handlers raise, at random moments of a watched run.

What a handler raises is the program's: a timeout, Ctrl-C. It must arrive, wherever gradsan was at work just then.
"""

import re
import sys
import tempfile
from pathlib import Path

from warm import Warm

PROGRAM = """
import functools, random, signal, time, torch

rng, count = random.Random({seed}), {count}
armed = ran = False


class Timeout(Exception): pass


class Stop(BaseException): pass


def raises(kind):
    def handler(number, frame):
        global ran
        ran = True
        if armed:
            raise kind
    return handler


class Handler:
    def __call__(self, *given):
        raises(Timeout)(*given)

    def method(self, number, interrupted=None):
        interrupted = None
        raises(TimeoutError)(number, interrupted)


def interrupted(*given):
    global ran
    ran = True
    if armed:
        signal.default_int_handler(*given)


handlers = [raises(Timeout), raises(Stop), raises(TimeoutError), raises(KeyError), Handler(), Handler().method]
handlers += [interrupted, functools.partial(raises(OSError)), signal.default_int_handler]
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
weight = torch.ones(2, requires_grad=True)


def trains():
    for _ in range(400):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()


{failing}

arrived, lost = 0, []
for number in range(count):
    handler = handlers[number % len(handlers)]
    fails = failing[number // 3 % len(failing)] if number % 3 == 0 else None
    signal.signal(signal.SIGALRM, handler)
    torch.set_grad_enabled(True)  # an interrupt in the midst of `no_grad.__enter__` leaves it off, without gradsan too
    ran = False
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.0002, 0.06 if fails else 0.004))
        until = time.monotonic() + 10
        while not ran and time.monotonic() < until:
            if fails:
                fails()
            else:
                trains()
        armed = False
        lost.append((number, handler))
    except (Timeout, Stop, OSError, KeyError, KeyboardInterrupt):
        armed, ran = False, True
        arrived += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
print("lost", len(lost), "arrived", arrived, lost)
"""

# An error of its own line each: the same line is not explained again and again.
FAILING = """
def fails_{number}():
    loss = (weight * weight).sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError:
        pass
"""


def lost(signals: int, seed: int = 0) -> tuple[int, str]:
    """How many of so many signals did not arrive, and all that the program said."""
    lines = max(signals // 9, 1)
    failing = "".join(FAILING.format(number=number) for number in range(lines))
    failing += "\nfailing = [" + ", ".join(f"fails_{number}" for number in range(lines)) + "]\n"
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(PROGRAM.format(seed=seed, count=signals, failing=failing), encoding="utf-8")
        ended = Warm().run(script, "run")
    counted = re.search(r"lost (\d+) arrived (\d+)", ended.stdout)
    if counted is None or int(counted[1]) + int(counted[2]) != signals:
        return signals, ended.stdout + ended.stderr
    return int(counted[1]), ended.stdout + ended.stderr


if __name__ == "__main__":
    asked = int(sys.argv[1])
    count, said = lost(asked)
    sys.stdout.write(f"{asked:,} signals: {count} lost\n" + (said if count else ""))
    sys.exit(int(count > 0))
