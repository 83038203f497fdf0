"""Which gradsan this is."""

from importlib import metadata


def version() -> str:
    """The version of the installed package."""
    try:
        return metadata.version("gradsan")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "unknown"
