"""``python -m ufselect``."""

from ufselect.cli import main

if __name__ == "__main__":
    main()
