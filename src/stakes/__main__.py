"""``python -m stakes`` is the command ``stakes``."""

import sys

from stakes.cli.main import main

sys.exit(main())
