"""nginx, haproxy and Caddy in front of a server, as docs/proxies.md has them."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from conftest import APP, MASTER
from kvstored import CHECKOUT, Server, until
from ports import hold_port

GUIDE = (CHECKOUT / "docs" / "proxies.md").read_text()
#: The address that clients have.
CLIENT = "127.0.0.5"
PATH = "/appdata/kid/books"


def example(language: str, **places: str) -> str:
    """Give an example of the guide, with places of its own."""
    found = re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    assert found, language
    text = found[1]
    for old, new in places.items():
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate for localhost; give the directory."""
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", folder / "key", "-out", folder / "certificate"),
        ],
        check=True,
        capture_output=True,
    )
    both = (folder / "certificate").read_text() + (folder / "key").read_text()
    (folder / "both").write_text(both)
    return folder


class Front:
    """A proxy that listens with TLS."""

    def __init__(self, certificate: Path, port: int) -> None:
        self.port = port
        self.trust = ssl.create_default_context(cafile=str(certificate / "certificate"))

    def connect(self, timeout: float = 30) -> http.client.HTTPSConnection:
        """Connect from the address of the client."""
        return http.client.HTTPSConnection(
            "localhost",
            self.port,
            source_address=(CLIENT, 0),
            context=self.trust,
            timeout=timeout,
        )

    def call(
        self, method: str, path: str, body: object = None, *, who: str = MASTER
    ) -> tuple[int, bytes]:
        """Make a request on a connection of its own."""
        connection = self.connect()
        data = None if body is None else json.dumps(body)
        headers = {"Authorization": who, "Content-Type": "application/json"}
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        status, content = answer.status, answer.read()
        connection.close()
        return status, content

    def listens(self) -> bool:
        """Tell whether there is somebody, and a server behind."""
        try:
            return self.call("GET", "/healthz")[0] == 200
        except OSError:
            return False


class Running:
    """Servers and proxies of a test."""

    def __init__(self, folder: Path, certificate: Path) -> None:
        self.folder = folder
        self.certificate = certificate
        self.log = folder / "access.log"
        self._ends: list[Callable[[], None]] = []

    def server(self, *options: str) -> str:
        """Start a server that trusts proxies on this machine; give its address."""
        server = Server(
            self.folder / "data",
            "kid:sec:mas",
            *("--trusted-proxy", "127.0.0.1", "--access-log", str(self.log)),
            *("--access-log-format", "json", *options),
        )
        self._ends.append(server.stop)
        return server.host.partition("//")[2]

    def front(self, port: int, *command: str) -> Front:
        """Start a proxy and wait until requests pass it."""
        process = subprocess.Popen(
            command, cwd=self.folder, env={**os.environ, "HOME": str(self.folder)}
        )

        def end() -> None:
            process.send_signal(signal.SIGTERM)
            process.wait()

        self._ends.append(end)
        front = Front(self.certificate, port)
        until = time.monotonic() + 60
        while not front.listens():
            assert process.poll() is None, "the proxy has ended"
            assert time.monotonic() < until, "the proxy passes nothing on"
            time.sleep(0.05)
        return front

    def lines(self) -> list[Any]:
        """Give the lines that the access log has so far: each is written after its answer."""
        complete = self.log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in complete.splitlines()]

    def clients(self) -> set[str]:
        """Give the clients that the access log has, but for the checks of proxies."""
        return {line["client"] for line in self.lines() if line["path"] != "/healthz"}

    def end(self) -> None:
        for end in reversed(self._ends):
            end()


@pytest.fixture
def running(tmp_path: Path, certificate: Path) -> Iterator[Running]:
    """Give what runs servers and proxies for a test."""
    running = Running(tmp_path, certificate)
    yield running
    running.end()


def nginx(running: Running) -> Front:
    port, server = hold_port(), running.server()
    site = example(
        "nginx",
        **{
            "listen 443": f"listen 127.0.0.1:{port}",
            "127.0.0.1:8778": server,
            "/etc/ssl/data.example.pem": str(running.certificate / "certificate"),
            "/etc/ssl/data.example.key": str(running.certificate / "key"),
        },
    )
    paths = "".join(
        f"{name}_temp_path {running.folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file = running.folder / "nginx.conf"
    file.write_text(
        f"daemon off; user root; pid {running.folder}/pid; error_log stderr;\n"
        f"events {{}}\nhttp {{ access_log off; {paths}\n{site}}}\n"
    )
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or "nginx"
    return running.front(port, program, "-c", str(file))


def haproxy(running: Running, language: str = "haproxy", *options: str, send: str = "") -> Front:
    port, server = hold_port(), running.server(*options)
    places = {
        "bind :443": f"bind 127.0.0.1:{port}",
        "127.0.0.1:8778": server,
        "/etc/ssl/data.example.both.pem": str(running.certificate / "both"),
    }
    if send:
        places["send-proxy-v2"] = send
    file = running.folder / "haproxy.cfg"
    file.write_text(example(language, **places))
    program = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin") or "haproxy"
    return running.front(port, program, "-db", "-q", "-f", str(file))


def caddy(running: Running) -> Front:
    port, server = hold_port(), running.server()
    tls = f"tls {running.certificate / 'certificate'} {running.certificate / 'key'}"
    places = {"data.example {": f"https://localhost:{port} {{\n  {tls}", "127.0.0.1:8778": server}
    file = running.folder / "Caddyfile"
    file.write_text("{\n  admin off\n  auto_https off\n}\n" + example("caddy", **places))
    return running.front(port, "caddy", "run", "--config", str(file), "--adapter", "caddyfile")


def tcp(version: str) -> Callable[[Running], Front]:
    """Give what starts haproxy for TCP, in front of a server with TLS."""

    def start(running: Running) -> Front:
        files = [str(running.certificate / name) for name in ("certificate", "key")]
        return haproxy(
            running,
            "haproxy-tcp",
            *("--proxy-protocol", "--tls-cert", files[0], "--tls-key", files[1]),
            send=version,
        )

    return start


FRONTS = [nginx, haproxy, caddy, tcp("send-proxy"), tcp("send-proxy-v2")]
NAMES = ["nginx", "haproxy", "caddy", "proxy-v1", "proxy-v2"]


@pytest.mark.parametrize("start", FRONTS, ids=NAMES)
def test_requests_pass_as_they_are_and_count_as_the_client_s(
    running: Running, start: Callable[[Running], Front]
) -> None:
    front = start(running)
    odd = PATH + "/" + quote("a/b ü%", safe="")
    assert front.call("PUT", odd, {"n": 1})[0] == 201
    assert json.loads(front.call("GET", odd)[1])["_id"] == "a/b ü%"
    large = {"text": "x" * (8 << 20)}
    assert front.call("PUT", PATH + "/large", large)[0] == 201
    assert len(front.call("GET", PATH + "/large")[1]) > 8 << 20
    assert front.call("GET", PATH + "/none")[0] == 404
    assert front.call("GET", PATH, who="Basic bm86")[0] == 401
    assert running.clients() == {CLIENT}


@pytest.mark.parametrize("start", FRONTS, ids=NAMES)
def test_a_long_poll_gets_its_message_at_once(
    running: Running, start: Callable[[Running], Front]
) -> None:
    front = start(running)
    user = json.loads(front.call("POST", "/user/kid", {}, who=APP)[1])
    session = f"Kinvey {user['_kmd']['authtoken']}"
    device = {"deviceId": "d"}
    register = f"/user/kid/{user['_id']}/register-realtime"
    keys = json.loads(front.call("POST", register, device, who=session)[1])
    assert front.call("POST", PATH + "/_subscribe", device, who=session)[0] in (200, 204)
    path = (
        f"/v2/subscribe/{keys['subscribeKey']}/,/0?auth={quote(session.split()[1])}"
        f"&channel-group={quote(keys['userChannelGroup'])}"
    )
    at = json.loads(front.call("GET", path + "&tt=0")[1])["t"]
    poll = front.connect()
    poll.request("GET", f"{path}&tt={at['t']}&tr={at['r']}")
    answers: list[bytes] = []
    reader = threading.Thread(target=lambda: answers.append(poll.getresponse().read()))
    reader.start()
    reader.join(1)
    assert not answers
    assert front.call("PUT", PATH + "/new", {"n": 1}, who=session)[0] == 201
    reader.join(60)
    assert b'"new"' in answers[0].replace(b"\\", b"")


def test_nobody_but_a_trusted_proxy_can_say_who_the_client_is(running: Running) -> None:
    address, port = running.server("--proxy-protocol").split(":")
    claim = b"PROXY TCP4 203.0.113.9 10.0.0.1 1 2\r\n"
    request = (
        b"GET /appdata/kid HTTP/1.1\r\nHost: x\r\nAuthorization: " + MASTER.encode() + b"\r\n"
        b"X-Forwarded-For: 203.0.113.8\r\nConnection: close\r\n\r\n"
    )
    for source, sent, status in [
        ("127.0.0.1", claim + request, b"200"),
        ("127.0.0.1", request, b""),
        (CLIENT, request, b"200"),
        (CLIENT, claim + request, b"400"),
    ]:
        with socket.create_connection((address, int(port)), source_address=(source, 0)) as client:
            client.settimeout(60)
            client.sendall(sent)
            answer = b""
            try:
                while piece := client.recv(65536):
                    answer += piece
            except ConnectionResetError:
                pass
        assert answer[9:12] == status, (source, sent)

    def served() -> list[str]:
        return [line["client"] for line in running.lines() if line["status"] == 200]

    until(lambda: len(served()) >= 2)
    assert served() == ["203.0.113.9", CLIENT]
