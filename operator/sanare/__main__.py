"""`python -m sanare`."""

import sys

from sanare.cli import main

sys.exit(main())
