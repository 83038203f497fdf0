"""`python -m gradsan`, for where the `gradsan` command is not on the path."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] != ["run"] and not getattr(sys.flags, "safe_path", False):
        del sys.path[0]  # the working directory: a `click.py` of the tree that is read is not to be run
    from gradsan.cli import main

    main()
