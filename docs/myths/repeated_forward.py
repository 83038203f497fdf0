import torch


def attempt(what, call):
    try:
        call()
        print(f"{what}: runs")
    except RuntimeError as error:
        print(f"{what}: {str(error).partition(' (')[0]}")


x = torch.ones(3, requires_grad=True)
z = x.exp().sum()
z.backward()

x.detach()
attempt("after x.detach(), the same z   ", z.backward)
attempt("no detach, the forward repeated", lambda: x.exp().sum().backward())
attempt("the detached result itself     ", lambda: x.detach().exp().sum().backward())
