"""Tensors and cuts: which operations keep a graph, which lose it, which need what they save."""

import pytest

from check.rules import Rule, check

RULES = [
    Rule(
        "a tensor that lost its graph cannot be back-propagated",
        "GS203",
        found=(
            """
            loss = model(x).mean().detach()
            loss.backward()
            """,
            """
            loss = torch.tensor(model(x).mean())
            loss.backward()
            """,
            """
            loss = model(x).mean()
            with torch.no_grad():
                loss = loss * 2
            loss.backward()
            """,
            """
            loss = model(x).argmax().float()
            loss.backward()
            """,
        ),
        near_miss="""
        loss = model(x).mean()
        seen = loss.detach()
        loss.backward()
        """,
    ),
    Rule(
        "a number that is compared is as it is written, with its sign",
        "GS203",
        found=(
            """
            keep = +1
            loss = model(x).mean()
            if keep == 1:
                loss = loss.detach()
            loss.backward()
            """,
        ),
        near_miss="""
        keep = -1
        loss = model(x).mean()
        if keep == 1:
            loss = loss.detach()
        loss.backward()
        """,
    ),
    Rule(
        "what a function with no_grad around it returns has no graph",
        "GS203",
        found=(
            """
            @torch.no_grad()
            def score():
                return model(x).mean()
            score().backward()
            """,
            """
            def score():
                with torch.inference_mode():
                    return model(x).mean()
            score().backward()
            """,
            """
            with torch.set_grad_enabled(False):
                loss = model(x).mean()
            loss.backward()
            """,
        ),
        near_miss="""
        def score():
            with torch.no_grad():
                with torch.enable_grad():
                    return model(x).mean()
        score().backward()
        """,
    ),
    Rule(
        "what a statement switches off, or freezes, stays so for the iterations behind it",
        "GS203",
        found=(
            """
            def evaluate():
                torch.set_grad_enabled(False)
                return model(x).mean().item()
            for epoch in range(3):
                model(x).mean().backward()
                evaluate()
            """,
            """
            class Validation:
                def on_epoch_end(self):
                    torch.set_grad_enabled(False)
                    print(model(x).mean())
            callbacks = [Validation()]
            for epoch in range(3):
                loss = model(x).mean()
                loss.backward()
                for each in callbacks:
                    each.on_epoch_end()
            """,
            """
            head = torch.nn.Linear(3, 1)
            for epoch in range(3):
                loss = head(x).mean()
                loss.backward()
                for each in head.parameters():
                    each.requires_grad_(False)
            """,
        ),
        near_miss="""
        def evaluate():
            torch.set_grad_enabled(False)
            score = model(x).mean().item()
            torch.set_grad_enabled(True)
            return score
        for epoch in range(3):
            model(x).mean().backward()
            evaluate()
        """,
    ),
    Rule(
        "a re-entrant checkpoint that is given nothing with a graph records nothing",
        "GS203",
        found=(
            """
            from torch.utils.checkpoint import checkpoint
            block = torch.nn.Linear(3, 1)
            loss = checkpoint(block, torch.ones(2, 3), use_reentrant=True).mean()
            loss.backward()
            """,
            """
            from torch.utils.checkpoint import checkpoint
            embed, block = torch.nn.Linear(3, 3).requires_grad_(False), torch.nn.Linear(3, 1)
            loss = checkpoint(block, embed(torch.ones(2, 3)), None, use_reentrant=True).mean()
            loss.backward()
            """,
            """
            from torch.utils.checkpoint import checkpoint
            options = {"use_reentrant": True}
            block = torch.nn.Linear(3, 1)
            z = checkpoint(block, torch.ones(2, 3), **options)
            z.square().mean().backward()
            """,
        ),
        near_miss="""
        from torch.utils.checkpoint import checkpoint
        embed, block = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
        checkpoint(block, embed(torch.ones(2, 3)), use_reentrant=True).mean().backward()
        checkpoint(block, torch.ones(2, 3), use_reentrant=False).mean().backward()
        checkpoint(block, torch.ones(2, 3, requires_grad=True), use_reentrant=True).mean().backward()
        """,
    ),
    Rule(
        "a factor must not be changed between the product and the pass",
        "GS202",
        found=(
            """
            h = model(x)
            y = h * h.exp()
            h += 1
            y.mean().backward()
            """,
            """
            a = model(x).exp()
            a.add_(1)
            a.mean().backward()
            """,
            """
            w = model(x)
            y = torch.mul(w, w.sin())
            w[0] = 0
            y.mean().backward()
            """,
        ),
        near_miss="""
        h = model(x)
        y = h + h.exp()
        h += 1
        y.mean().backward()
        """,
    ),
    Rule(
        "what saves values can be walked once only",
        "GS101",
        found=(
            """
            loss = model(x).mean()
            loss.backward()
            loss.backward()
            """,
            """
            w = torch.ones(3, requires_grad=True)
            s = w.exp().sum()
            s.backward()
            s.backward()
            """,
            """
            loss = F.mse_loss(model(x), x)
            loss.backward()
            (2 * loss).backward()
            """,
        ),
        near_miss="""
        w = torch.ones(3, requires_grad=True)
        s = (w + 1).sum()
        s.backward()
        s.backward()
        """,
    ),
    Rule(
        "saved values cannot be read after the pass that freed them",
        "GS108",
        found=(
            """
            out = model(x).tanh()
            out.sum().backward()
            print(out.grad_fn._saved_result)
            """,
            """
            out = model(x).exp()
            out.sum().backward()
            out.grad_fn._saved_result
            """,
        ),
        near_miss="""
        out = model(x).exp()
        out.sum().backward(retain_graph=True)
        print(out.grad_fn._saved_result)
        out.mean().backward()
        """,
    ),
    Rule(
        "an op that needs an operand for its own gradient saves it, and so does a layer its input",
        "GS202",
        found=(
            """
            y = model(x) * 1.0
            y -= torch.logsumexp(y, dim=1, keepdim=True)
            y.mean().backward()
            """,
            """
            y = torch.zeros(8, 4)
            for _ in range(3):
                y += model(y)
            y.mean().backward()
            """,
        ),
        near_miss="""
        y = model(x) * 1.0
        y -= torch.sum(y, dim=1, keepdim=True)
        y.mean().backward()
        """,
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rule_of_tensors(rule: Rule) -> None:
    """Each rule finds its programs, and lets the one go that only looks like them."""
    check(rule)
