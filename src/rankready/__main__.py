"""Run the command line as ``python -m rankready``."""

from rankready.cli import main

if __name__ == "__main__":
    main()
