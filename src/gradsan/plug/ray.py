"""For Ray Train: `TorchTrainer(explained(train), …)`. Every worker leaves its report in the storage of the run."""

import functools
import os
import tempfile
from collections.abc import Callable
from typing import Any, TypeVar

from gradsan.entry.siblings import OUTPUT
from gradsan.observe.guarding import attempt, say, shown
from gradsan.plug.extras import needs
from gradsan.plug.training import Training

with needs("gradsan.plug.ray", "ray"):
    from ray import train as ray_train

FOLDER = "gradsan"  # in the storage of the run
T = TypeVar("T")


def explained(train: Callable[..., T]) -> Callable[..., T]:
    """The same function for workers, in which errors of backward passes are explained; silent problems come after it.

    `gradsan report STORAGE/NAME/gradsan` makes one report of what the workers have left.
    """

    @functools.wraps(train)
    def run(*given: Any) -> T:  # noqa: ANN401 # whatever Ray gives to it
        with tempfile.TemporaryDirectory() as reports:
            os.environ[OUTPUT] = reports
            try:
                with Training(_where).block():
                    return train(*given)
            finally:
                del os.environ[OUTPUT]
                attempt(functools.partial(_store, reports), lambda error: say(f"no report is stored: {shown(error)}"))

    return run


def _where() -> str:
    return f"this was a worker of Ray's run `{ray_train.get_context().get_experiment_name()}`"


def _store(reports: str) -> None:
    """Through the file system that the run has been given, be it local or not."""
    from pyarrow import fs

    if not os.listdir(reports):  # noqa: PTH208 # which needs no Path
        return
    storage = ray_train.get_context().get_storage()
    place = f"{storage.experiment_fs_path}/{FOLDER}"
    storage.storage_filesystem.create_dir(place)
    fs.copy_files(reports, place, destination_filesystem=storage.storage_filesystem)
