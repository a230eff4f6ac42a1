import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))


def pytest_configure(config):
    for program in (os.environ.get("CULVERT") or ROOT / "build/release/culvert",
                    ROOT / "build/release/loadgen"):
        if not os.access(program, os.X_OK):
            pytest.exit(f"{program} is not built", returncode=2)
