"""`python -m yearbook_client`: see `cli`. Owns the entry alone."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
