"""Predictions in PostgreSQL and in an object store: the same counts as from files, no passwords."""

import json
import os
import pwd
import shlex
import shutil
import socket
import subprocess
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from _helpers.pages import blocks, commands, text_of

from stakes import JointConfusion
from stakes.errors import FileError, InputError, InputTypeError, redacted
from stakes.read import remote
from stakes.read.remote import is_remote, read_remote

psycopg = pytest.importorskip("psycopg")

PASSWORD = "s3cr+t%40w0rd"  # noqa: S105 - with an escape, and a plus that stays one
PLAIN = "s3cr+t@w0rd"
COSTS = ["--fp", "10", "--fn", "100", "--pos-label", "fraud"]
ELSEWHERE = "postgresql://me:hush@127.0.0.1:1/db"


# -- without a server


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://u:pw@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:p@s/s:w@h:5432/db", "postgresql://u:***@h:5432/db"),
        ("postgresql://u:two words@h/db", "postgresql://u:***@h/db"),
        ("postgresql://:pw@h/db", "postgresql://:***@h/db"),
        ("postgresql://h/db?user=u&password=pw&a=b", "postgresql://h/db?user=u&password=***&a=b"),
        ("postgresql://h/db?sslpassword=pw", "postgresql://h/db?sslpassword=***"),
        ("s3://key:secret@bucket/a.csv", "s3://key:***@bucket/a.csv"),
        ("postgresql://u@h:5432/db", "postgresql://u@h:5432/db"),
        ("s3://bucket/a:b@c.csv", "s3://bucket/a:b@c.csv"),
    ],
)
def test_passwords_are_redacted(address, shown):
    assert redacted(address) == shown
    assert redacted(shown) == shown
    assert str(InputError(address, f"cannot read {address}.")).count(shown) == 2
    assert is_remote(address)


@pytest.mark.parametrize("command", ["evaluate", "compare", "merge", "curve", "report"])
@pytest.mark.parametrize("more", [[], ["--debug"], ["--table", "t"]])
def test_no_command_shows_a_password(command, more, stakes, folder):
    out = ["--out", str(folder / "out.html")] if command in ("merge", "report") else []
    said = stakes(command, ELSEWHERE, *([] if command == "merge" else COSTS), *more, *out)
    assert said.code == 2
    assert "hush" not in said.out + said.err


def test_a_failed_connection_is_said(stakes):
    said = stakes("evaluate", ELSEWHERE, "--table", "predictions", *COSTS)
    assert said.code == 2
    assert "postgresql://me:***@127.0.0.1:1/db: the database cannot be read" in said.err
    assert "hush" not in said.err
    assert "Traceback" not in said.err


def test_the_error_holds_no_password_in_python():
    with pytest.raises(FileError) as caught:
        read_remote(ELSEWHERE, table="t")
    assert caught.value.__suppress_context__
    assert "hush" not in repr(caught.value)


@pytest.mark.parametrize("chosen", [{}, {"table": "t", "query": "SELECT 1"}])
def test_rows_are_chosen_in_one_way(chosen):
    with pytest.raises(InputTypeError, match="which rows"):
        read_remote(ELSEWHERE, **chosen)


def test_a_table_is_that_of_a_database(stakes, folder, payments):
    (folder / "here.csv").write_text(payments(20, 1))
    said = stakes("evaluate", "here.csv", "--table", "predictions", *COSTS)
    assert said.code == 2
    assert "--table: it chooses rows of a database" in said.err


def test_the_kind_of_a_stored_file_is_known():
    with pytest.raises(FileError, match=r"named \.csv"):
        read_remote("s3://bank/counts.json")


# -- PostgreSQL


class Server:
    """PostgreSQL on the loopback, of a user other than root."""

    def __init__(self, folder):
        self._programs = programs()
        self._folder = folder
        self._user = "postgres" if os.geteuid() == 0 else None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        secret = folder / "password"
        secret.write_text(PLAIN)
        if self._user is not None:
            user = pwd.getpwnam(self._user)
            for each in (folder, secret):
                os.chown(each, user.pw_uid, user.pw_gid)
            for above in list(folder.parents)[:-2]:
                above.chmod(above.stat().st_mode | 0o011)  # pytest's folders are closed to others
        options = ["-U", "me", "-A", "scram-sha-256", "--pwfile", str(secret), "-E", "UTF8", "-N"]
        self._run("initdb", "-D", str(folder / "data"), *options)

    def start(self):
        options = f"-h 127.0.0.1 -p {self.port} -k {self._folder} -F"
        log = str(self._folder / "log")
        self._run(
            "pg_ctl", "-D", str(self._folder / "data"), "-w", "-l", log, "-o", options, "start"
        )

    def stop(self):
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-w", "-m", "immediate", "stop")

    def address(self, password=f":{PASSWORD}"):
        return f"postgresql://me{password}@127.0.0.1:{self.port}/postgres"

    def _run(self, program, *given):
        subprocess.run(
            [str(self._programs / program), *given],
            check=True,
            user=self._user,
            group=self._user,
            extra_groups=[] if self._user else None,
            cwd=self._folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def programs():
    """Return the folder with PostgreSQL's programs, or leave its tests out."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    there = [Path(each) for each in [shutil.which("initdb")] if each]
    if not found and not there:
        leave = pytest.fail if os.environ.get("CI") else pytest.skip  # CI must run these tests
        leave("no PostgreSQL found: install Debian's package postgresql")
    return (found or there)[-1].parent


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with a table of predictions."""
    made = Server(tmp_path_factory.mktemp("postgres"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def table(server, folder, payments):
    """Write the same predictions into a file and into the database."""
    text = payments(500, 4)
    (folder / "predictions.csv").write_text(text)
    header, *rows = text.splitlines()
    names = header.split(",")
    kinds = ["numeric" if name == "tree_score" else "double precision" for name in names]
    columns = [
        f"{name} {kind if name.endswith('_score') else 'char(9)' if name == 'old' else 'text'}"
        for name, kind in zip(names, kinds, strict=True)
    ]
    with psycopg.connect(server.address()) as connection:
        connection.execute("DROP TABLE IF EXISTS predictions")
        connection.execute(f"CREATE TABLE predictions ({', '.join(columns)})")
        marks = ", ".join(["%s"] * len(names))
        with connection.cursor() as cursor:
            lines = [row.split(",") for row in rows]
            cursor.executemany(f"INSERT INTO predictions VALUES ({marks})", lines)  # noqa: S608
    return server.address()


@pytest.mark.services
def test_counts_are_those_of_the_file(table, stakes, folder, monkeypatch):
    monkeypatch.setattr(remote, "AT_ONCE", 64)  # so that the rows come in several batches
    assert stakes("count", "predictions.csv", *COSTS, "--out", "file.json").code == 0
    assert stakes("count", table, "--table", "predictions", *COSTS, "--out", "db.json").code == 0
    chosen = ["--query", "SELECT * FROM public.predictions WHERE id LIKE '%'"]
    assert stakes("count", table, *chosen, *COSTS, "--out", "query.json").code == 0
    counted = [
        json.loads((folder / f"{name}.json").read_text()) for name in ("file", "db", "query")
    ]
    for each in counted:
        for name in ("checksum", "sha256", "source"):
            each.pop(name, None)
    assert counted[0] == counted[1] == counted[2]


@pytest.mark.services
def test_ibis_counts_in_the_database(table):
    import ibis

    rows = read_remote(table, table="predictions").table
    actual, old, tree = (np.array(rows.column(name)) for name in ("actual", "old", "tree"))
    right = JointConfusion.from_labels(actual, {"old": old, "tree": tree})
    with psycopg.connect(table, autocommit=True) as connection:
        lazy = ibis.postgres.from_connection(connection).table("predictions")
        lazy = lazy.mutate(old=lazy.old.strip())
        found = JointConfusion.from_frame(lazy, actual="actual", predicted=["old", "tree"])
        for name in ("old", "tree"):
            counts = found.single(name).counts
            np.testing.assert_array_equal(counts, right.single(name).counts)
            pairs = zip(actual, rows.column(name).to_pylist(), strict=True)
            wrong = sum(one != other for one, other in pairs)
            assert counts.sum() - np.trace(counts) == wrong


@pytest.mark.services
def test_no_output_has_the_password(table, stakes, folder):
    chosen = [table, "--table", "predictions", *COSTS]
    gate = [
        "--baseline",
        "old",
        "--gate",
        "--margin",
        "50",
        "--junit",
        "j.xml",
        "--markdown",
        "m.md",
    ]
    said = [
        stakes("report", *chosen, "--out", "report.html", "--json", "report.json"),
        stakes("compare", *chosen, "--json", "compare.json", *gate),
        stakes("count", *chosen, "--out", "counts.json"),
        stakes("count", *chosen, "--out", "counts.parquet"),
        stakes("evaluate", *chosen, "--actual", "nothing"),
        stakes("evaluate", table, "--table", "absent", *COSTS),
        stakes("evaluate", table, "--query", "DELETE FROM predictions", *COSTS),
        stakes("evaluate", table, *COSTS),
    ]
    assert [each.code for each in said] == [0, 0, 0, 0, 2, 2, 2, 2]
    files = [path.read_bytes() for path in folder.iterdir() if path.name != "predictions.csv"]
    assert len(files) >= 7
    everything = b"".join(files).decode(errors="replace") + "".join(s.out + s.err for s in said)
    assert PASSWORD not in everything
    assert PLAIN not in everything
    assert "me:***@127.0.0.1" in everything


@pytest.mark.services
def test_a_wrong_password_is_not_shown(server, stakes):
    said = stakes("evaluate", server.address(":wr0ng"), "--table", "predictions", *COSTS)
    assert said.code == 2
    assert "password authentication failed" in said.err
    assert "wr0ng" not in said.err


@pytest.mark.services
def test_no_mlflow_run_has_the_password(table, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    from stakes.predictions import Columns
    from stakes.predictions.files import read_predictions
    from stakes.study import Study
    from stakes.track import log_to_mlflow

    class Silent:
        expect = step = reach = staticmethod(lambda *_: None)

    rows = read_predictions([table], Columns(table="predictions"), Silent())
    study = Study.from_table(rows, {"false_positive": 10, "false_negative": 100}, pos_label="fraud")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries that MLflow uses
        mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
        mlflow.start_run()
        log_to_mlflow(study)
        mlflow.end_run()
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"me:***@127.0.0.1" in content for content in kept)
    assert all(each.encode() not in content for content in kept for each in (PASSWORD, PLAIN))


@pytest.mark.services
def test_a_server_that_stops_in_the_middle_is_an_error(tmp_path, stakes, folder, monkeypatch):
    (tmp_path / "server").mkdir()
    made = Server(tmp_path / "server")
    made.start()
    monkeypatch.setattr(remote, "AT_ONCE", 10)
    slow = (
        "SELECT CASE WHEN i % 3 = 0 THEN 'fraud' ELSE 'ok' END AS actual, 'ok' AS model, "
        "pg_sleep(CASE WHEN i > 100 THEN 0.02 ELSE 0 END)::text AS pause "
        "FROM generate_series(1, 5000) AS i"
    )
    stop = threading.Timer(1.0, made.stop)
    began = time.monotonic()
    stop.start()
    said = stakes("count", made.address(), "--query", slow, *COSTS, "--out", "counts.json")
    stop.join()
    assert time.monotonic() - began < 60
    assert said.code == 2
    assert "nothing was counted" in said.err
    assert "Traceback" not in said.err
    assert PASSWORD not in said.err
    assert not (folder / "counts.json").exists()


# -- object stores


@pytest.fixture(scope="module")
def store():
    """A server that speaks as Amazon's object store does, with a bucket."""
    boto3 = pytest.importorskip("boto3")
    from moto.server import ThreadedMotoServer

    made = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    _, port = made.get_host_and_port()
    settings = {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "hidden",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    with pytest.MonkeyPatch.context() as patched:
        for name, value in settings.items():
            patched.setenv(name, value)
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="bank")
        yield client
        client.close()
    made.stop()


@pytest.mark.services
@pytest.mark.parametrize("name", ["predictions.parquet", "predictions.csv", "predictions.csv.gz"])
def test_stored_files_count_as_those_here(name, store, stakes, folder, payments):
    import gzip

    from pyarrow import csv, parquet

    (folder / "here.csv").write_text(payments(300, 7))
    content = (folder / "here.csv").read_bytes()
    if name.endswith(".parquet"):
        parquet.write_table(csv.read_csv(folder / "here.csv"), folder / "here.parquet")
        content = (folder / "here.parquet").read_bytes()
    elif name.endswith(".gz"):
        content = gzip.compress(content)
    store.put_object(Bucket="bank", Key=name, Body=content)
    here, there = (stakes("evaluate", each, *COSTS) for each in ("here.csv", f"s3://bank/{name}"))
    assert there.code == 0
    assert there.out.replace(f"s3://bank/{name}", "here.csv").split() == here.out.split()


@pytest.mark.services
def test_a_file_that_is_not_stored_is_said(store, stakes):  # noqa: ARG001 - the store
    said = stakes("evaluate", "s3://key:hidden@bank/nothing.csv", *COSTS)
    assert said.code == 2
    assert "s3://key:***@bank/nothing.csv: the object store cannot be read" in said.err
    assert "hidden" not in said.err


@pytest.mark.services
@pytest.mark.usefixtures("table")
def test_the_commands_of_databases_md_run(store, server, stakes, folder, monkeypatch):
    from pyarrow import csv, parquet

    monkeypatch.setenv("PGPASSWORD", PLAIN)
    parquet.write_table(csv.read_csv(folder / "predictions.csv"), folder / "p.parquet")
    body = (folder / "p.parquet").read_bytes()
    store.put_object(Bucket="bank", Key="predictions.parquet", Body=body)
    shown = commands(text_of("docs/howto/databases.md"))

    def there(text):
        return text.replace("127.0.0.1:5432/bank", f"127.0.0.1:{server.port}/postgres")

    assert len(shown) == 3
    (block,) = blocks(text_of("docs/howto/databases.md"), "py")
    found = {}
    exec(there(block), found)  # noqa: S102 - the page's own code
    assert found["counts"].n == 500
    found["table"].get_backend().disconnect()
    for command in shown:
        words = shlex.split(there(command))
        said = stakes(*words[1:])
        assert said.code == 0, said.err
