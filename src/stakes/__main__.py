"""Run the command line as ``python -m stakes``."""

import sys

from stakes.cli.main import main

sys.exit(main())
