"""Objects are found without a trace: no thread, proxy or finalizer notices."""

import gc
import sys
import threading
from collections.abc import Iterator

from gradsan.observe.living import instances


class Kind:
    """Looked for."""


class Special(Kind):
    """Found too."""


class Proxy:
    """Pretends, and must not be asked."""

    @property
    def __class__(self) -> type:
        raise AssertionError("asked")

    @__class__.setter
    def __class__(self, kind: type) -> None: ...


def test_objects_of_a_class_and_its_subclasses_are_found() -> None:
    """And nothing that only says so."""
    one, other, _proxy = Kind(), Special(), Proxy()

    found = instances(Kind)

    assert {id(each) for each in found} == {id(one), id(other)}
    assert gc.isenabled()


def test_thread_that_builds_a_tuple_is_not_disturbed() -> None:
    """`tuple(generator)` fails with a SystemError if anybody else holds the tuple while it grows."""
    interval = sys.getswitchinterval()
    errors: list[SystemError] = []
    done = threading.Event()

    def items() -> Iterator[object]:
        for _ in range(200):
            yield object()

    def build() -> None:
        while not done.is_set():
            try:
                tuple(items())
            except SystemError as error:
                errors.append(error)

    weight = [[number] for number in range(300_000)]  # so that looking takes long enough to be interrupted
    builder = threading.Thread(target=build)
    sys.setswitchinterval(1e-6)
    builder.start()
    try:
        for _ in range(10):
            instances(Kind)
    finally:
        done.set()
        builder.join()
        sys.setswitchinterval(interval)

    assert errors == []
    assert len(weight) == 300_000


def test_several_classes_are_looked_for_at_once() -> None:
    """Where there are a million objects, every look takes a fifth of a second."""
    one, other = Kind(), Proxy()

    found = instances(Kind, Proxy)

    assert {id(each) for each in found} == {id(one), id(other)}
