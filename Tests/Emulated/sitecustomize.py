"""What Python reads when it starts in an emulator: its own name is that of a script that emulates.

The kernel cannot run the interpreter itself, which tests start as sys.executable.
"""

from __future__ import annotations

import os
import sys

sys.executable = os.environ.get("KVSTORE_EMULATED_PYTHON", sys.executable)
