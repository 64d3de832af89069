"""Compiled trees are kept between processes, and compiled again when their code changes."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from _helpers.sources import SOURCE

GROW = """
import numpy as np
from stakes.learn import LazyOptionTreeClassifier
X = np.random.default_rng(0).normal(size=(60, 4))
model = LazyOptionTreeClassifier(laplace=1.0).fit(X[:40], X[:40, 0] > X[:40, 1])
print("asked", flush=True)
print(model.predict_proba(X[40:]).sum(axis=1).tolist())
"""


def copy_of_the_package(folder):
    shutil.copytree(SOURCE, folder / "stakes", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "stakes/learn/trees"


def start(folder, code, **environment):
    paths = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | paths | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(folder, code=GROW, **environment):
    told, errors = start(folder, code, **environment).communicate()
    assert not errors
    return told.splitlines()[-1]


@pytest.mark.services  # compiles the trees several times
def test_an_edit_of_a_callee_compiles_again_and_a_kill_breaks_nothing(tmp_path):
    kernel = copy_of_the_package(tmp_path) / "_kernel.py"
    killed = start(tmp_path, GROW)
    assert killed.stdout.readline() == "asked\n"
    time.sleep(2)  # it is compiling now
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    sums = [float(number) for number in answer(tmp_path).strip("[]").split(",")]
    assert sums == pytest.approx([1.0] * 20)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nbc")}
    assert files
    answer(tmp_path)  # from the cache
    assert files == {path: path.stat().st_mtime_ns for path in files}
    code = kernel.read_text()
    share = "shares[c] = (tally[c].left + laplace)"
    assert code.count(share) == 1
    kernel.write_text(code.replace(share, "shares[c] = 2 * (tally[c].left + laplace)"))
    changed = [float(number) for number in answer(tmp_path).strip("[]").split(",")]
    assert max(changed) > 1.5


def test_the_kernel_is_one_file_that_imports_nothing_of_ours():
    """Numba looks at the file of the function that is called, not at those of others."""
    code = (SOURCE / "learn/trees/_kernel.py").read_text()
    assert "import stakes" not in code
    assert "from stakes" not in code
    others = [path for path in SOURCE.rglob("*.py") if path.name != "_kernel.py"]
    assert not [path for path in others if "njit" in path.read_text()]


def test_where_nothing_can_be_kept_the_trees_compile_all_the_same(tmp_path):
    trees = copy_of_the_package(tmp_path)
    (trees / "__pycache__").write_text("no folder")
    nowhere = str(Path("/dev/null/none"))
    code = "from stakes.learn.trees._kernel import middle, grow; print(middle(1.0, 2.0))"
    places = {"NUMBA_CACHE_DIR": nowhere, "HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    assert answer(tmp_path, code, **places) == "1.5"
