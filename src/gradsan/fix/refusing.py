"""Why no line of a program was changed, in words for whoever has to change it by hand."""

from gradsan.report import Diagnosis


def no_edit(diagnosis: Diagnosis) -> str:
    """Why there is no edit that could be tried: what is not known, or not to be decided by a program."""
    return f"nothing was tried: {_reason(diagnosis)}"


def _reason(diagnosis: Diagnosis) -> str:
    kinds = [fix.kind for fix in diagnosis.fixes if fix.kind != "advice"]
    if not kinds:
        return "what is meant here, only its author knows; its fixes say what to decide"
    if (cut := diagnosis.cut) is not None:
        meant = "which part is to learn" if "unfreeze" in kinds else "what to compute there instead"
        instead = f"{meant}, only its author knows"
        return f"the cut at {cut.file}:{cut.line} cannot simply be left out; {instead}"
    if diagnosis.culprit is None:
        return "no variable is known that holds it, so there is no line to change; see its fixes"
    return (
        f"no line was found in which `{diagnosis.culprit.name}` can be treated so ({', '.join(kinds)}) and every path "
        "through the program still works; see its fixes"
    )
