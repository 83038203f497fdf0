"""What may be called while a trainer is at work."""


class CallbackList:
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def call(self, event, *args):
        for each in self.callbacks:
            method = getattr(each, event, None)
            if method is not None:
                method(*args)


class History:
    """All logs of all batches, for a plot at the end."""

    def __init__(self):
        self.rows = []

    def batch_end(self, number, logs):
        self.rows.append({name: float(value) for name, value in logs.items()})


class Printer:
    def __init__(self, every):
        self.every = every

    def batch_end(self, number, logs):
        if number % self.every == 0:
            print(number, {name: round(float(value), 4) for name, value in logs.items()})
