"""What the benchmarks share: building the C programs, rows, servers, medians."""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "Benchmarks" / "c"
BUILD = ROOT / "build"
SCRATCH = BUILD / "bench"
LIBRARY = BUILD / "lib" / "libkvstore.so"


@dataclass(frozen=True)
class Row:
    """One line of the result. `ratio` is ours to baseline; `met` is None where there is no goal."""

    name: str
    ours: float
    baseline: float | None
    ratio: float | None
    unit: str
    goal: str
    met: bool | None
    #: What the baseline is, in a few words.
    against: str

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def ratio_row(
    name: str,
    unit: str,
    ours: list[float],
    baseline: list[float],
    against: str,
    at_least: float | None,
) -> Row:
    """A row that compares the medians of two series."""
    mine, theirs = statistics.median(ours), statistics.median(baseline)
    ratio = mine / theirs if theirs else 0.0
    goal = "" if at_least is None else f"ratio >= {at_least:g}"
    met = None if at_least is None else ratio >= at_least
    return Row(name, round(mine, 2), round(theirs, 2), round(ratio, 3), unit, goal, met, against)


def limit_row(
    name: str, unit: str, ours: list[float], at_most: float, baseline: list[float], against: str
) -> Row:
    """A row whose goal is an upper limit of our own figure."""
    mine, theirs = statistics.median(ours), statistics.median(baseline)
    ratio = mine / theirs if theirs else 0.0
    met = mine <= at_most
    goal = f"<= {at_most:g} {unit}"
    return Row(name, round(mine, 3), round(theirs, 3), round(ratio, 3), unit, goal, met, against)


def build(
    program: str, *sources: str, libraries: tuple[str, ...], flags: tuple[str, ...] = ()
) -> Path:
    """Compiles a program of Benchmarks/c against the library of build/lib."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    target = SCRATCH / program
    common = ["-O2", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        [
            *("gcc", *common, *flags, f"-I{ROOT}/include"),
            *(str(SOURCES / source) for source in sources),
            *("-o", str(target), f"-L{LIBRARY.parent}", f"-Wl,-rpath,{LIBRARY.parent}"),
            *(f"-l{library}" for library in libraries),
        ],
        check=True,
    )
    return target


def output_of(*command: object, limit: float = 600) -> str:
    """Runs a program and gives what it printed."""
    words = [str(word) for word in command]
    return subprocess.run(
        words, check=True, stdout=subprocess.PIPE, text=True, timeout=limit
    ).stdout


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """An empty directory below build/bench, gone afterwards."""
    path = SCRATCH / f"scratch-{name}"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a server, from when it answers on its port until the block ends."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(500):
            if process.poll() is not None:
                raise RuntimeError(f"{command[0]} ended with {process.returncode}")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.01)
        else:
            raise RuntimeError(f"{command[0]} does not listen on {port}")
        yield process
    finally:
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def nginx(directory: Path, locations: str) -> Iterator[str]:
    """An nginx that serves `locations`; gives its address."""
    port = free_port()
    configuration = directory / "nginx.conf"
    configuration.write_text(f"""
daemon off;
worker_processes {os.cpu_count()};
pid {directory}/nginx.pid;
error_log {directory}/nginx-error.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  sendfile on;
  open_file_cache max=10000;
  keepalive_requests 100000000;
  default_type application/json;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  server {{
    listen 127.0.0.1:{port};
    root {directory};
    {locations}
  }}
}}
""")
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or "nginx"
    # nginx may run its workers as another user, who must be able to read the files.
    user = f"user {os.environ.get('USER', 'root')};" if os.geteuid() == 0 else ""
    with serving([program, "-c", str(configuration), "-g", user], port):
        yield f"http://127.0.0.1:{port}"
