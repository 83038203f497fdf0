"""`python -m gradsan`, for where the `gradsan` command is not on the path."""

from gradsan.cli import main

if __name__ == "__main__":
    main()
