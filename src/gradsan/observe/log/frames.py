"""What is read off a live frame. None is kept: a frame holds the program's tensors."""

from types import FrameType

# A generator's events also tell its frame's identity and line: `identity << LINE_BITS | line`.
LINE_BITS = 20
LINE_MASK = (1 << LINE_BITS) - 1


def token_of(frame: FrameType) -> int:
    """What distinguishes a sleeping generator from others of the same code, and where in it the control is."""
    return (id(frame) >> 4) << LINE_BITS | (frame.f_lineno or 0) & LINE_MASK


def frames_out(frame: FrameType | None) -> list[FrameType]:
    """A frame and its callers, innermost first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames
