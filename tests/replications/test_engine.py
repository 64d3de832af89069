"""Experiments run, stop, and resume with the same numbers."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from _helpers.toy_experiment import TOY

from replications import run
from replications.catalogue import find
from replications.comparison import verdicts
from replications.engine import kept_run
from replications.experiment import average, share
from replications.store import cell_file, folder_of, read, read_results, write, write_results
from stakes.errors import FileError, InputError, MissingExtraError
from stakes.read.checksums import parquet_bytes

TESTS = Path(__file__).parents[1]


def test_each_cell_is_measured_with_its_own_randomness():
    results = run(TOY, scale=0.5)
    assert len(results.rows) == 7
    assert results.only(chance=0.1, sides=1)["repeats"] == 500
    assert results.value(measure="total") == sum(row["value"] for row in results.rows[:-1])
    assert len({row["value"] for row in results.rows}) == 7
    assert run(TOY, scale=0.5) == results
    assert run(TOY, scale=0.5, seed=1) != results
    assert results.to_frame().shape == (7, 6)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_same_numbers_for_any_number_of_jobs_and_after_a_stop(tmp_path, jobs):
    whole = run(TOY)
    kept = run(TOY, folder=tmp_path, n_jobs=jobs)
    assert kept == whole
    where = folder_of(tmp_path, "toy", 1.0, 0)
    for number in (1, 4):
        cell_file(where, number).unlink()
    told = []
    assert run(TOY, folder=tmp_path, progress=lambda *now: told.append(now)) == whole
    assert [(done, of) for done, of, _ in told] == [(4, 6), (5, 6), (6, 6)]
    assert told[-1][2] == 0


def test_a_killed_run_goes_on_to_the_same_table(tmp_path):
    code = (
        f"import sys; sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]\n"
        "from _helpers.toy_experiment import stops_after\nfrom replications import run\n"
        f"run(stops_after(int(sys.argv[1])), folder={str(tmp_path)!r})"
    )
    where = folder_of(tmp_path, "toy", 1.0, 0)
    for more, expected in ((1, 1), (2, 3)):
        process = subprocess.Popen([sys.executable, "-c", code, str(more)])
        end = time.monotonic() + 600  # a busy machine takes long to start Python
        while len(list(where.glob("cell-*"))) < expected and time.monotonic() < end:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    kept = {path: path.stat().st_mtime_ns for path in where.glob("cell-*")}
    assert len(kept) == 3
    assert run(TOY, folder=tmp_path) == run(TOY)
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())


def test_results_of_another_version_are_refused_and_left_alone(tmp_path):
    run(TOY, folder=tmp_path, scale=0.1)
    path = cell_file(folder_of(tmp_path, "toy", 0.1, 0), 2)
    rows, about = read(path)
    write(path, rows, about | {"format": "replications/0"})
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"cell-00002\.parquet: expected results of the format"):
        run(TOY, folder=tmp_path, scale=0.1)
    write(path, rows, {k: v for k, v in about.items() if k != "format"} | {"cell": {"x": 1}})
    with pytest.raises(FileError, match=r"expected the cell .*'chance'.* got {'x': 1}"):
        run(TOY, folder=tmp_path, scale=0.1)
    write(path, rows, about | {"version": "0.0.1"})
    with pytest.raises(FileError, match=r"expected stakes .* got 0\.0\.1: another version"):
        run(TOY, folder=tmp_path, scale=0.1)
    write(path, rows, about)
    with pytest.raises(FileError, match=r"expected replicates: 200, got 100: .* the experiment"):
        run(replace(TOY, repeats=2000), folder=tmp_path, scale=0.1)
    path.write_bytes(before[:100])
    with pytest.raises(FileError, match=r"cell-00002.parquet: not results.*Delete it"):
        run(TOY, folder=tmp_path, scale=0.1)
    assert path.read_bytes() == before[:100]


def test_results_of_other_data_are_refused_and_left_alone(tmp_path):
    reads = replace(TOY, uses_data=True)
    runs, here, there = (tmp_path / name for name in ("runs", "here", "there"))
    found = run(reads, folder=runs, data=here, scale=0.1)
    assert run(reads, folder=runs, data=here, scale=0.1) == found
    with pytest.raises(FileError, match=r"measured with the data sets of .*here, .* no data sets"):
        run(reads, folder=runs, scale=0.1)
    with pytest.raises(FileError, match=r"this run has the data sets of .*there\. Name the same"):
        run(reads, folder=runs, data=there, scale=0.1)
    kept = kept_run(reads, runs)
    assert kept.results() == found
    assert (
        kept.command == f"python -m replications run toy --scale 0.1 --folder {runs} --data {here}"
    )
    # For an experiment that reads no data, the folder of data does not matter.
    run(TOY, folder=there, data=here, scale=0.1)
    assert run(TOY, folder=there, scale=0.1) == found


def test_a_disk_that_is_full_or_closed_stops_the_run_with_a_clear_error(tmp_path):
    (tmp_path / "toy").write_text("in the way")
    with pytest.raises(FileError, match="the folder cannot be made"):
        run(TOY, folder=tmp_path)


def test_results_in_one_file(tmp_path):
    results = run(TOY, scale=0.1)
    write_results(tmp_path / "toy.parquet", results)
    assert read_results(tmp_path / "toy.parquet") == results
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_results(tmp_path / "other.parquet")
    for said in (None, ["of another kind"]):
        (tmp_path / "a.parquet").write_bytes(parquet_bytes(pa.table({"value": [1.0]}), said))
        with pytest.raises(
            FileError, match="expected results of a replication, got another Parquet"
        ):
            read_results(tmp_path / "a.parquet")


def test_without_pyarrow_nothing_is_measured(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"replications needs pyarrow.*'stakes\[cli\]'"):
        run(TOY, folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_verdicts():
    found = verdicts(TOY, run(TOY))
    assert [each.word for each in found] == ["within noise", "differs"]
    assert found[1].difference == pytest.approx(-0.25, abs=0.05)


def test_unknown_experiments_and_bad_arguments():
    with pytest.raises(InputError, match=r"none called 'bcost-coverge'\. Did you mean 'bcost-cov"):
        find("bcost-coverge")
    for scale in (0, 1.5, -1, float("nan")):
        with pytest.raises(InputError, match="scale: expected a share"):
            run(TOY, scale=scale)
    with pytest.raises(InputError, match="0 results are called"):
        run(TOY, scale=0.1).only(chance=7)


def test_rows_of_means_and_shares():
    row = average("mean", [1.0, 2.0, 3.0], model="M1")
    assert row == {
        "model": "M1", "measure": "mean", "value": 2.0, "error": 1 / np.sqrt(3), "repeats": 3,
    }  # fmt: skip
    row = share("share", 0, 96)
    assert row["value"] == 0
    assert row["error"] == pytest.approx(np.sqrt(0.02 * 0.98 / 100))
