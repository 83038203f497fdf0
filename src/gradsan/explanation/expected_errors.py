"""Errors that whoever runs the program waits for, and compares word by word."""


def is_expected(error: BaseException) -> bool:
    """Whether a doctest shows this error: it compares the whole text, of which a note would be the last line."""
    frame = None if error.__traceback__ is None else error.__traceback__.tb_frame
    while frame is not None and frame.f_globals.get("__name__") != "doctest":
        frame = frame.f_back
    example = None if frame is None else frame.f_locals.get("example")
    return getattr(example, "exc_msg", None) is not None
