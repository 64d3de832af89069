"""Fixtures for engines: a local Spark, and clusters of several processes on the loopback."""

import gc
import os
import shutil
import signal
import socket
import subprocess
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

LOOPBACK = "127.0.0.1"
BRISK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java options for a fast start and few threads, because these programs run only briefly."""

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.extraJavaOptions": BRISK,
    "spark.executor.extraJavaOptions": BRISK,
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="session")
def java():
    """Find a Java runtime, which Spark needs, or skip its tests; in CI, fail them."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home, "bin")) if home else None)
    if found is None:
        leave = pytest.fail if os.environ.get("CI") else pytest.skip  # CI must try Spark
        leave("no Java found: Spark needs a Java 17 runtime, such as openjdk-17-jre-headless")
    return found


@pytest.fixture(scope="module")
def local_spark(java):  # noqa: ARG001 - to be skipped
    """Spark in one process, with results of at most one megabyte for its driver."""
    with session("local[1]", {"spark.driver.maxResultSize": "1m"}) as spark:
        yield spark


@pytest.fixture(scope="module")
def cluster(java, tmp_path_factory):
    """A Spark master and two workers, each a process of its own."""
    started = SparkCluster(java, tmp_path_factory.mktemp("spark"))
    try:
        started.add_worker()
        started.add_worker()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def cluster_spark(cluster):
    """A session whose jobs wait for both workers."""
    options = {
        "spark.executor.memory": "512m",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
    }
    with session(cluster.url, options) as spark:
        yield spark


@pytest.fixture(scope="module")
def dask_client():
    """Two Dask workers, each a process of its own."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            memory_limit=0,
            silence_logs=50,
        ) as workers,
        Client(workers) as client,
    ):
        yield client


class session:  # noqa: N801 - reads as a function
    """A Spark session that ends with its block, so that another can start in this process."""

    def __init__(self, master, options):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(master).appName("stakes")
        for name, value in (QUIET | options).items():
            builder = builder.config(name, value)
        self._spark = builder.getOrCreate()

    def __enter__(self):
        return self._spark

    def __exit__(self, *error):
        self._spark.stop()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()  # py4j leaves its sockets to the garbage


class SparkCluster:
    """Processes of Spark's own master and workers, which end when this process does."""

    def __init__(self, java, folder):
        self._java, self._folder = java, folder
        self._home = Path(find_spec("pyspark").origin).parent
        self._classes = str(self._home / "jars" / "*")
        self._processes = []
        self.workers = []
        port = free_port()
        self.url = f"spark://{LOOPBACK}:{port}"
        self._start("master.Master", "--port", str(port))
        wait(lambda: answers(port), "the master of Spark to start")

    def add_worker(self):
        """Start a worker with one core."""
        work = self._folder / f"work-{len(self.workers)}"
        limits = ["--cores", "1", "--memory", "1g", "--work-dir", str(work)]
        self.workers.append(self._start("worker.Worker", *limits, self.url))

    def kill(self, worker):
        """Kill a worker and the executors that it has started, by SIGKILL."""
        import psutil

        (java,) = psutil.Process(worker.pid).children()
        for process in [*java.children(recursive=True), java]:
            process.send_signal(signal.SIGKILL)

    def stop(self):
        """End all processes, the last one started first."""
        for keeper in reversed(self._processes):
            keeper.stdin.close()
            keeper.wait(timeout=30)

    def _start(self, name, *arguments):
        """Start a program of Spark under a shell that kills it as soon as its input ends."""
        keeper = '"$@" & java=$!; read -r line; kill -KILL $java'
        program = [self._java, "-Xmx256m", *BRISK.split(), "-cp", self._classes]
        program += [f"org.apache.spark.deploy.{name}", "--host", LOOPBACK, "--webui-port", "0"]
        process = subprocess.Popen(
            ["/bin/sh", "-c", keeper, "keeper", *program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ
            | {"SPARK_HOME": str(self._home), "SPARK_LOCAL_IP": LOOPBACK}
            | {"SPARK_SCALA_VERSION": "2.13"},  # as set by the scripts of Spark 4, which are slower
        )
        self._processes.append(process)
        return process


def free_port():
    """Return a free port of the loopback."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        return free.getsockname()[1]


def answers(port):
    """Return whether a process listens on a port."""
    with socket.socket() as caller:
        return caller.connect_ex((LOOPBACK, port)) == 0


def wait(happened, what, seconds=180):
    """Wait until a condition holds, or fail after some seconds."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)
