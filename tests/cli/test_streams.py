"""Closed and full streams, pipes, odd names, signals and low memory: only a gate exits with 1."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from stakes.cli import _output
from stakes.cli.main import main

EVALUATE = ["evaluate", "predictions.csv", "-c", "costs.csv"]
STAKES = f"{sys.executable} -m stakes.cli.main"
posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


def shell(command, folder, **options):
    """Run a command line in a shell, `stakes` being ours."""
    return subprocess.run(
        ["/bin/bash", "-c", command.replace("stakes", STAKES, 1)],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=600,
        text=True,
        **options,
    )


@posix
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("stakes -q evaluate predictions.csv -c costs.csv >&-", 2, "standard output: cannot be"),
        ("stakes --help >&-", 2, "standard output: cannot be"),
        ("stakes evaluate predictions.csv -c costs.csv 2>&-", 0, ""),
        ("stakes evaluate predictions.csv -c costs.csv 2>/dev/full", 0, ""),
        ("stakes costs check nope.csv 2>&-", 2, ""),
        ("stakes costs check nope.csv 2>/dev/full", 2, ""),
        ("stakes costs check nope.csv >&- 2>&-", 2, ""),
        ("stakes evaluate - -c costs.csv <&-", 2, "standard input: cannot be read: it is closed"),
        ("stakes costs check costs.csv <&-", 0, ""),
    ],
)
def test_streams_that_are_closed_or_full(command, code, said, folder):
    done = shell(command, folder)
    assert (done.returncode, said in done.stderr) == (code, True)


@posix
def test_a_file_that_takes_the_number_of_a_closed_stream_is_not_written_to(folder):
    done = shell("stakes evaluate predictions.csv -c costs.csv --json a.json >&- 2>&-", folder)
    assert done.returncode == 2
    if (folder / "a.json").exists():
        json.loads((folder / "a.json").read_text())


WRITTEN = (
    ("evaluate", "--json", "stdout"),
    ("curve", "--csv", "stdout"),
    ("compare --baseline old --gate", "--markdown", "stdout"),
    ("compare --baseline old --gate", "--junit", "stderr"),
)
REDIRECTED = {
    "stdout": ("> to.txt", ">> to.txt", "| cat > to.txt"),
    "stderr": ("2> to.txt", "2>> to.txt", "2>&1 > out.txt | cat > to.txt"),
}


@posix
@pytest.mark.parametrize(("command", "option", "stream"), WRITTEN)
def test_a_file_that_is_a_standard_stream(command, option, stream, folder):
    name, *more = command.split()
    run = f"stakes -q {name} predictions.csv -c costs.csv {' '.join(more)} {option}"
    alone = shell(f"{run} alone.txt", folder)
    expected = (folder / "alone.txt").read_text() + (alone.stdout if stream == "stdout" else "")
    for redirected in REDIRECTED[stream]:
        (folder / "to.txt").unlink(missing_ok=True)
        done = shell(f"{run} /dev/{stream} {redirected}", folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert (folder / "to.txt").read_text() == expected


@posix
def test_output_that_is_appended_to_the_file_of_standard_output(folder):
    run = "stakes -q compare predictions.csv -c costs.csv --baseline old --gate --markdown"
    alone = shell(f"{run} alone.md", folder)
    expected = "before\n" + (folder / "alone.md").read_text() + alone.stdout
    (folder / "a.md").write_text("before\n")
    assert shell(f"{run} a.md >> a.md", folder).returncode == 0
    assert (folder / "a.md").read_text() == expected


@posix
def test_output_that_would_replace_the_file_of_standard_output(folder):
    done = shell("stakes -q evaluate predictions.csv -c costs.csv --json a.json > a.json", folder)
    assert done.returncode == 2
    assert "a.json: cannot be written: standard output is redirected to it. Give" in done.stderr


@posix
def test_a_pipe_is_read_once(stakes, folder):
    plain = stakes("-q", *EVALUATE).out
    for name, original in (("p.csv", "predictions.csv"), ("no_ending", "predictions.csv")):
        os.mkfifo(folder / name)
        content = (folder / original).read_bytes()
        writer = threading.Thread(target=(folder / name).write_bytes, args=(content,), daemon=True)
        writer.start()
        said = stakes("-q", "evaluate", name, "-c", "costs.csv")
        assert (said.code, said.out.replace(name, original)) == (0, plain)
        writer.join(10)


@posix
def test_names_that_are_not_utf_8(stakes, folder):
    name = os.fsdecode(b"caf\xe9.csv")
    try:
        shutil.copy(folder / "predictions.csv", folder / name)
    except OSError:
        pytest.skip("the file system has no such names")
    said = stakes("-q", "evaluate", name, "-c", "costs.csv", "--json", "a.json")
    assert said.code == 0
    assert json.loads((folder / "a.json").read_text())["data"]["source"] == "caf\\udce9.csv"
    (folder / "shards").mkdir()
    header, *rows = (folder / "predictions.csv").read_text().splitlines(keepends=True)
    for each, part in ((b"\xe9 1.csv", rows), (b"\xe9 2.csv", rows[::-1])):
        (folder / "shards" / os.fsdecode(each)).write_text("".join([header, *part]))
    assert stakes("-q", "evaluate", "shards", "-c", "costs.csv").code == 0
    unit = os.fsdecode(b"a\xff")
    report = ("-q", "report", name, "-c", "costs.csv", "--unit", unit, "--title", unit)
    said = stakes(*report, "--out", "a.html", "--json", "b.json")
    assert (said.code, said.err) == (0, "")
    page = (folder / "a.html").read_text(encoding="utf-8")
    assert "caf\\udce9.csv" in page
    assert "per decision, in a\\udcff" in page
    assert json.loads((folder / "b.json").read_text())["data"]["source"] == "caf\\udce9.csv"
    assert stakes(*report, "--out", os.fsdecode(b"\xe9.html")).code == 0
    assert stakes("-q", "compare", name, "-c", "costs.csv", "--unit", unit).code == 0


@posix
def test_a_locale_without_our_characters(folder):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = "stakes evaluate predictions.csv -c costs.csv --unit € --json a.json"
    done = shell(command, folder, env={**os.environ, **plain})
    assert done.returncode == 0, done.stderr
    json.loads((folder / "a.json").read_text())


def test_links_in_a_circle(stakes, folder):
    (folder / "a.csv").symlink_to("b.csv")
    (folder / "b.csv").symlink_to("a.csv")
    said = stakes("-q", "evaluate", "a.csv", "-c", "costs.csv")
    assert (said.code, said.err) == (
        2,
        "stakes: a.csv: cannot be read: Too many levels of symbolic links.\n",
    )
    said = stakes("-q", *EVALUATE, "--json", "a.csv")
    assert "a.csv: cannot be written: its links lead in a circle." in said.err
    assert stakes("merge", "a.csv", "b.csv", "--out", "c.json").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["curve", "predictions.csv", "-c", "costs.csv", "--csv", "x.json", "--json", "./x.json"],
        ["curve", "predictions.csv", "-c", "costs.csv", "--out", "x.png", "--json", "link.png"],
        ["report", "predictions.csv", "-c", "costs.csv", "--out", "x.html", "--json", "x.html"],
    ],
)
def test_two_outputs_of_one_name_are_refused(arguments, stakes, folder):
    (folder / "link.png").symlink_to("x.png")
    before = sorted(folder.iterdir())
    said = stakes("-q", *arguments)
    assert (said.code, "two outputs have this name" in said.err) == (2, True)
    assert sorted(folder.iterdir()) == before


def test_a_file_in_a_folder_that_is_read_is_not_overwritten(stakes, folder):
    (folder / "shards").mkdir()
    shutil.copy(folder / "predictions.csv", folder / "shards" / "a.csv")
    said = stakes("-q", "evaluate", "shards", "-c", "costs.csv", "--json", "shards/a.csv")
    assert (said.code, "this is an input" in said.err) == (2, True)


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_process_that_is_ended_leaves_no_temporary_file(number, code, folder):
    """The process ends itself in the middle of a write, between the file and its name."""
    script = (
        "import os, pathlib, sys; from stakes.cli.main import main\n"
        "replace = pathlib.Path.replace\n"
        f"pathlib.Path.replace = lambda *paths: os.kill(os.getpid(), {int(number)})\n"
        f"sys.argv = ['stakes', '-q', *{EVALUATE!r}, '--json', 'a.json']\n"
        "sys.exit(main())"
    )
    before = sorted(folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    assert (done.returncode, done.stderr) == (code, "stakes: terminated.\n")
    assert sorted(folder.iterdir()) == before


def test_what_an_interrupted_library_fails_with_is_an_interrupt(stakes, monkeypatch):
    """A library that is being imported turns Ctrl-C into an error of its own."""

    def fail(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            raise ImportError("multiarray failed to import") from None

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr("stakes.predictions.files.read_table", fail)
        said = stakes(*EVALUATE)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (said.code, said.err) == (130, "stakes: interrupted.\n")


def test_what_is_no_exception_is_a_fault_too(stakes, monkeypatch):
    class PanicError(BaseException):
        """What libraries written in Rust raise."""

    def fail(*_, **__):
        raise PanicError("index out of bounds")

    monkeypatch.setattr("stakes.predictions.files.read_table", fail)
    said = stakes(*EVALUATE)
    assert (said.code, "That is a fault in stakes" in said.err) == (2, True)


def test_a_library_that_cannot_be_loaded_is_not_called_missing(stakes, monkeypatch):
    def fail(name, *_):
        raise ImportError("libarrow.so: failed to map segment: Cannot allocate memory", name=name)

    monkeypatch.setattr("stakes._core.optional.import_module", fail)
    said = stakes(*EVALUATE)
    assert (said.code, "not installed" in said.err) == (2, False)
    assert "pyarrow, which cannot be loaded: libarrow.so: failed to map segment" in said.err


def test_the_package_works_from_a_zip_archive(folder):
    source = Path(_output.__file__).parents[2]
    shutil.make_archive(str(folder / "stakes"), "zip", source, "stakes")
    script = "import stakes; print(stakes.__file__, stakes.CostMatrix, stakes.learn.PETClassifier)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(folder / "stakes.zip")},
    )
    assert "stakes.zip" in done.stdout, done.stderr


def test_half_precision_labels_are_read(stakes, folder):
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    labels = np.array([0, 1, 0, 1, 0, 1], dtype=np.float16)
    table = pa.table({"actual": labels, "m": labels[::-1]})
    parquet.write_table(table, folder / "a.parquet")
    (folder / "many").mkdir()
    parquet.write_table(table, folder / "many/a.parquet")
    parquet.write_table(table.slice(2), folder / "many/b.parquet")
    for name in ("a.parquet", "many"):
        said = stakes("-q", "evaluate", name, "--fp", "1", "--fn", "5")
        assert (said.code, said.err) == (0, "")


@pytest.mark.parametrize("prior", ["1e-300", "5e-324", "1e-17", "0"])
def test_tiny_priors(prior, stakes):
    said = stakes("-q", *EVALUATE, "--class-priors", f"fraud={prior},ok=1")
    if prior in ("1e-17", "0"):
        assert said.code == 0
    else:
        assert "--class-priors: expected 0 or at least 1e-100" in said.err


def test_a_command_may_be_called_from_a_thread(folder):
    assert folder.is_dir()
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main(["-q", *EVALUATE])))
    thread.start()
    thread.join()
    assert codes == [0]


@pytest.mark.parametrize("name", ["__proto__", "constructor"])
def test_a_model_that_scripts_take_for_another_thing_is_not_drawn(name, stakes, folder):
    """Vega has it for a property that every object has, and draws nothing."""
    text = (folder / "predictions.csv").read_text().replace("tree", name)
    (folder / "predictions.csv").write_text(text)
    assert stakes("-q", *EVALUATE).code == 0
    said = stakes("-q", "report", "predictions.csv", "-c", "costs.csv", "--out", "a.html")
    assert (said.code, f"cannot show a model called {name!r}" in said.err) == (2, True)
    assert not (folder / "a.html").exists()
