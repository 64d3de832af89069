"""Compiled trees are cached between processes, and compiled again when their code changes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from _helpers.sources import SOURCE

from stakes.learn.trees._splits import SHARED

GROW = """
import json
import time
import numba
import numpy as np
from stakes.learn import LazyOptionTreeClassifier
X = np.random.default_rng(0).normal(size=(60, 4))
model = LazyOptionTreeClassifier(laplace=1.0)
print("asked", flush=True)
start = time.process_time()
shares = model.fit(X[:40], X[:40, 0] > X[:40, 1]).predict_proba(X[40:])
print(json.dumps([time.process_time() - start, shares.tolist()]))
"""

LOOK_UP = """
import numpy as np
from stakes.learn.trees._graph import fill_hash_table
from stakes.learn.trees._workspace import NODE, NOTHING
table, nodes = np.full(8, NOTHING, np.int32), np.zeros(3, NODE)
nodes["hash"] = 0, 2, 5
fill_hash_table(table, nodes, 3)
print(table.tolist())
"""
"""Code that compiles in a second. It calls a function that the tests edit, to see whether the cache
notices."""

ROUNDED = """
from stakes.learn.trees._splits import entrance, units

@entrance
def rounded(value):
    return units(value)
"""

FOUND, EDITED = [-1, -1, 1, -1, -1, 2, -1, -1], [-1, -1, -1, 1, -1, -1, 2, -1]

KILLED = """
import os, signal
from numba.core.caching import IndexDataCacheFile
def killed(self, name, data):
    os.kill(os.getpid(), signal.SIGKILL)
IndexDataCacheFile._save_data = killed
"""
"""A kill at the worst moment: the index of compiled functions is written, but not the function."""

FULL_DISK = """
from numba.core.caching import IndexDataCacheFile
def full(self, name, data):
    raise OSError(28, "No space left on device")
IndexDataCacheFile._save_data = full
"""


@pytest.fixture
def copy(tmp_path):
    """Copy the package, as its kernel is edited."""
    shutil.copytree(SOURCE, tmp_path / "stakes", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def start(folder, code, **environment):
    paths = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | paths | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(folder, code, **environment):
    told, errors = start(folder, code, **environment).communicate()
    assert not errors
    return json.loads(told.splitlines()[-1])


def edit(
    folder, name="_graph.py", old="    at = mixed & mask\n", new="    at = (mixed + 1) & mask\n"
):
    path = folder / "stakes/learn/trees" / name
    code = path.read_text()
    assert code.count(old) == 1
    path.write_text(code.replace(old, new))


def kept(folder):
    return {path: path.stat().st_mtime_ns for path in (folder / "cache").rglob("*.nbc")}


def test_an_edit_of_a_callee_compiles_again(copy):
    assert answer(copy, LOOK_UP) == FOUND
    files = kept(copy)
    assert len(files) == 1
    assert answer(copy, LOOK_UP) == FOUND
    assert kept(copy) == files  # the cache was used
    edit(copy)
    assert answer(copy, LOOK_UP) == EDITED


@pytest.mark.services  # long compilation
def test_a_kill_while_new_code_is_kept_does_not_bring_back_old_code(copy):
    assert answer(copy, LOOK_UP) == FOUND
    edit(copy)
    process = start(copy, KILLED + LOOK_UP)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    for _ in range(2):
        assert answer(copy, LOOK_UP) == EDITED


@pytest.mark.services  # compiles the trees twice
def test_a_kill_breaks_nothing_and_the_second_process_starts_soon(copy):
    killed = start(copy, GROW)
    assert killed.stdout.readline() == "asked\n"
    time.sleep(2)  # the process is compiling now
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    seconds, shares = answer(copy, GROW)
    assert seconds > 2  # compiled again
    assert [sum(row) for row in shares] == pytest.approx([1.0] * 20)
    files = kept(copy)
    killed = start(copy, GROW.replace("X[40:]", "np.tile(X, (20_000, 1))"))
    assert killed.stdout.readline() == "asked\n"
    time.sleep(2)  # the process is growing trees now
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    seconds, again = answer(copy, GROW)
    assert again == shares
    assert seconds < 1
    assert kept(copy) == files  # the cache was used


@pytest.mark.parametrize(
    ("name", "old", "new", "edited"),
    [
        ("_splits.py", "value * UNIT + 0.5", "value * UNIT + 1.5", 2_000_000_001),
        ("_workspace.py", "UNIT = 1e9", "UNIT = 1e3", 2000),
    ],
)
def test_an_edit_in_another_file_compiles_again(copy, name, old, new, edited):
    """Numba looks at the file of the function that is called, not at those of others."""
    (copy / "stakes/learn/trees/rounded.py").write_text(ROUNDED)
    code = "from stakes.learn.trees.rounded import rounded; print(rounded(2.0))"
    assert answer(copy, code) == 2_000_000_000
    files = kept(copy)
    assert len(files) == 1
    assert answer(copy, code) == 2_000_000_000
    assert kept(copy) == files  # the cache was used
    edit(copy, name, old, new)
    assert answer(copy, code) == edited


def test_compiled_code_uses_no_other_files():
    """The hash that names the kept code is of these files, and of the function's own."""
    folder = SOURCE / "learn/trees"
    for path in (folder / "_splits.py", folder / "_graph.py"):
        ours = re.findall(r"^(?:from|import) (stakes\S*)", path.read_text(), re.MULTILINE)
        assert ours
        assert {name.removeprefix("stakes.learn.trees.") for name in ours} <= set(SHARED)
    others = [path for path in SOURCE.rglob("*.py") if path != folder / "_splits.py"]
    assert not [path for path in others if "njit" in path.read_text()]


@pytest.mark.services  # long compilation
def test_where_nothing_can_be_kept_the_trees_compile_all_the_same(copy):
    (copy / "stakes/learn/trees/__pycache__").write_text("no folder")
    nowhere = "/dev/null/none"
    places = {"NUMBA_CACHE_DIR": nowhere, "HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    assert answer(copy, LOOK_UP, **places) == FOUND


@pytest.mark.services  # long compilation
def test_a_full_disk_only_costs_time(copy):
    assert answer(copy, FULL_DISK + LOOK_UP) == FOUND
    assert not kept(copy)
    assert answer(copy, LOOK_UP) == FOUND


@pytest.mark.services  # long compilation
@pytest.mark.parametrize("ending", ["*.nbi", "*.nbc"])
def test_broken_files_only_cost_time(copy, ending):
    assert answer(copy, LOOK_UP) == FOUND
    broken = list((copy / "cache").rglob(ending))
    assert len(broken) == 1
    broken[0].write_bytes(broken[0].read_bytes()[:100])
    assert answer(copy, LOOK_UP) == FOUND


MAKE = shutil.which("make")


@pytest.mark.skipif(MAKE is None, reason="needs make")
def test_make_clean_removes_what_was_kept(copy):
    shutil.copy(SOURCE.parents[1] / "Makefile", copy)
    (copy / "src").mkdir()
    (copy / "stakes").rename(copy / "src/stakes")
    for folder in ("replications", "tests", "benchmarks", "tools"):
        (copy / folder).mkdir()
    environment = {"PYTHONPATH": str(copy / "src"), "NUMBA_CACHE_DIR": ""}
    assert answer(copy, LOOK_UP, **environment) == FOUND
    files = [*copy.rglob("*.nbc"), *copy.rglob("*.nbi")]
    assert len(files) == 2
    subprocess.run([MAKE, "clean"], cwd=copy, check=True, capture_output=True)
    assert not any(path.exists() for path in files)
    assert (copy / "src/stakes/learn/trees/_graph.py").exists()
