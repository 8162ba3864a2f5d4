"""`python -m tputriage` is the same as `tputriage`."""

from tputriage.cli import main

if __name__ == "__main__":
    main()
