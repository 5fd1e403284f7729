"""kvstored over TLS: real certificates, a real client, and a certificate that is replaced."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

import pytest
from kvstored import PROGRAM, Server

import kvstore
from kvstore._certificates import with_fallback

APP = "kid:secret"
SECONDS = 60


class Authority:
    """Issues certificates of one authority, as PEM files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.certificate = directory / "authority.pem"
        self._key = directory / "authority.key"
        self._issue("/CN=authority", self.certificate, self._key, "-x509")

    def issue(self, name: str, purpose: str | None = None) -> tuple[Path, Path]:
        """Give the paths of a certificate for 127.0.0.1 and of its key."""
        certificate, key = self._directory / f"{name}.pem", self._directory / f"{name}.key"
        signed = ["-x509", "-CA", str(self.certificate), "-CAkey", str(self._key)]
        address = ["-addext", "subjectAltName=IP:127.0.0.1"]
        if purpose:
            address += ["-addext", f"extendedKeyUsage={purpose}"]
        self._issue(f"/CN={name}", certificate, key, *signed, *address)
        return certificate, key

    def _issue(self, subject: str, certificate: Path, key: Path, *more: str) -> None:
        command = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        files = ["-subj", subject, "-keyout", str(key), "-out", str(certificate)]
        subprocess.run([*command, *files, *more], check=True, capture_output=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Give an authority that all tests share."""
    return Authority(tmp_path_factory.mktemp("authority"))


def shown(server: Server) -> str:
    """Give the certificate that a new connection gets."""
    host, port = server.host.removeprefix("https://").split(":")
    return ssl.get_server_certificate((host, int(port)), timeout=SECONDS).strip()


def text_of(certificate: Path) -> str:
    """Give the first certificate of a file."""
    return certificate.read_text().strip()


def client(server: Server, authority: Authority, directory: Path) -> kvstore.Client:
    """Open a client that trusts the authority."""
    return kvstore.Client(
        app_key="kid",
        app_secret="secret",
        host=server.host,
        data_directory=directory,
        ca_file=authority.certificate,
    )


def test_a_client_synchronises_over_tls(authority: Authority, tmp_path: Path) -> None:
    """What is saved comes to the server, and back to another client."""
    certificate, key = authority.issue("first")
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with (
        Server(tmp_path / "server", APP, *options) as server,
        client(server, authority, tmp_path / "a") as ours,
        client(server, authority, tmp_path / "b") as theirs,
    ):
        ours.signup("ana", "password")
        notes = ours.collection("notes", "sync")
        notes.save({"_id": "a", "text": "hello"})
        assert notes.sync().pushed == 1
        theirs.login("ana", "password")
        assert theirs.collection("notes", "network").find_by_id("a")["text"] == "hello"


def test_a_new_certificate_is_loaded_without_ending_connections(
    authority: Authority, tmp_path: Path
) -> None:
    """SIGHUP is enough; a pair that does not fit leaves the old one in place."""
    (certificate, key), (newer, newer_key) = authority.issue("old"), authority.issue("new")
    old = text_of(certificate)
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with (
        Server(tmp_path / "server", APP, *options) as server,
        client(server, authority, tmp_path / "a") as ours,
    ):
        ours.signup("ana", "password")
        assert shown(server) == old
        certificate.write_text(newer.read_text())
        server.hang_up()
        # The key is still the old one's, so nothing changes.
        assert shown(server) == old
        key.write_text(newer_key.read_text())
        server.hang_up()
        deadline = time.monotonic() + SECONDS
        while shown(server) == old:
            assert time.monotonic() < deadline
        assert shown(server) == text_of(newer)
        assert ours.collection("notes", "network").count() == 0


def context(authority: Authority, **limits: ssl.TLSVersion) -> ssl.SSLContext:
    """Make a client's context that trusts the authority, and refuses nothing by itself."""
    made = ssl.create_default_context(cafile=str(authority.certificate))
    made.set_ciphers("ALL:@SECLEVEL=0")
    for name, version in limits.items():
        setattr(made, name, version)
    return made


def answers(server: Server, context: ssl.SSLContext) -> str:
    """Ask for the server's health; give the version of TLS."""
    host, port = server.host.removeprefix("https://").split(":")
    with (
        socket.create_connection((host, int(port)), timeout=SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        secure.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = secure.recv(4096)
        if not answer:
            raise ConnectionResetError
        assert answer.startswith(b"HTTP/1.1 200")
        return secure.version() or ""


def test_a_scanner_finds_forward_secrecy_alone(authority: Authority, tmp_path: Path) -> None:
    """No TLS 1.0 and 1.1, no CBC, no SHA-1, no static RSA, no renegotiation, no compression."""
    certificate, key = authority.issue("scanned")
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with Server(tmp_path / "server", APP, *options) as server:
        command = ["sslscan", "--no-colour", "--xml=-", server.host.removeprefix("https://")]
        report = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True).stdout
    found = xml.etree.ElementTree.fromstring(report)
    protocols = {
        f"{p.get('type')} {p.get('version')}": p.get("enabled") for p in found.iter("protocol")
    }
    assert [name for name, enabled in protocols.items() if enabled == "1"] == [
        "tls 1.2",
        "tls 1.3",
    ], protocols
    ciphers = [str(c.get("cipher")) for c in found.iter("cipher")]
    assert len(ciphers) >= 6
    for cipher in ciphers:
        assert re.fullmatch(r"(TLS|ECDHE-(RSA|ECDSA))[-_].*(GCM|CHACHA20)[-_].*", cipher), cipher
    strengths = {c.get("strength") for c in found.iter("cipher")}
    assert strengths <= {"strong", "acceptable"}, strengths
    assert [c.get("supported") for c in found.iter("compression")] in ([], ["0"])
    assert [r.get("supported") for r in found.iter("renegotiation")] in ([], ["0"])


def test_the_least_version_and_the_ciphers_are_options(
    authority: Authority, tmp_path: Path
) -> None:
    """The client meets the versions and the ciphers that are left, or none."""
    certificate, key = authority.issue("options")
    pair = ("--tls-cert", str(certificate), "--tls-key", str(key))
    old = context(authority, maximum_version=ssl.TLSVersion.TLSv1_2)
    with Server(tmp_path / "usual", APP, *pair) as server:
        assert answers(server, context(authority)) == "TLSv1.3"
        assert answers(server, old) == "TLSv1.2"
    with Server(tmp_path / "newest", APP, *pair, "--tls-minimum", "1.3") as server:
        assert answers(server, context(authority)) == "TLSv1.3"
        with pytest.raises(ssl.SSLError):
            answers(server, old)
    large = context(authority, maximum_version=ssl.TLSVersion.TLSv1_2)
    large.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    with Server(tmp_path / "large", APP, *pair, "--tls-ciphers", "SECURE256") as server:
        assert answers(server, context(authority)) == "TLSv1.3"
        with pytest.raises(ssl.SSLError):
            answers(server, large)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--tls-ciphers", "NORMAL:+NONSENSE", "NONSENSE"),
        ("--tls-minimum", "1.1", "--tls-minimum needs 1.2 or 1.3"),
        ("--tls-client-ca", "nothing", "nothing"),
    ],
)
def test_rules_that_cannot_be_kept_are_refused_at_the_start(
    authority: Authority, tmp_path: Path, option: str, value: str, said: str
) -> None:
    """The message names what is wrong."""
    certificate, key = authority.issue("refused")
    command = [PROGRAM, "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0"]
    command += ["--tls-cert", str(certificate), "--tls-key", str(key), option, value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode in (1, 2)
    assert said in done.stderr


def test_only_clients_with_a_certificate_are_let_in(authority: Authority, tmp_path: Path) -> None:
    """Not those with none, with one of another authority, or with one for servers."""
    certificate, key = authority.issue("mutual", "serverAuth")
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other").issue("stranger", "clientAuth")
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    ours = authority.issue("ours", "clientAuth")
    limits = [{}, {"maximum_version": ssl.TLSVersion.TLSv1_2}]
    with Server(
        tmp_path / "server", APP, *options, "--tls-client-ca", str(authority.certificate)
    ) as server:
        for limit in limits:
            known = context(authority, **limit)
            known.load_cert_chain(*ours)
            assert answers(server, known)
            for pair in (None, stranger, (certificate, key)):
                unknown = context(authority, **limit)
                if pair:
                    unknown.load_cert_chain(*pair)
                with pytest.raises(OSError):  # noqa: PT011
                    answers(server, unknown)


@pytest.mark.parametrize("missing", ["certificate", "key", "match", "content"])
def test_makes_nothing_when_the_certificate_cannot_be_used(
    authority: Authority, tmp_path: Path, missing: str
) -> None:
    """It fails before it makes an app, or anything else."""
    certificate, key = authority.issue("one")
    _, other_key = authority.issue("two")
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("no certificate")
    pair = {
        "certificate": (tmp_path / "nope", key),
        "key": (certificate, tmp_path / "nope"),
        "match": (certificate, other_key),
        "content": (nonsense, key),
    }[missing]
    data = tmp_path / "data"
    options = [
        "--data",
        data,
        "--listen",
        "127.0.0.1:0",
        "--tls-cert",
        pair[0],
        "--tls-key",
        pair[1],
    ]
    done = subprocess.run(
        [PROGRAM, *map(str, options)], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 1
    assert not done.stdout
    assert str(tmp_path) in done.stderr or str(certificate) in done.stderr
    assert not data.exists()


def test_the_environment_names_the_authorities_to_trust(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for OpenSSL, curl and Go; without it a private authority is not trusted."""
    certificate, key = authority.issue("environment")
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with (
        Server(tmp_path / "server", APP, *options) as server,
        kvstore.Client(
            app_key="kid",
            app_secret="secret",
            host=server.host,
            data_directory=tmp_path / "data",
            retries=0,
        ) as client,
    ):
        with pytest.raises(kvstore.CertificateError, match="certificate"):
            client.ping()
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        assert client.ping()


def test_certifi_is_for_machines_without_authorities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is told where its file is, unless the program chose one or there is no host."""
    package = tmp_path / "certifi"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "cacert.pem").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "certifi", raising=False)
    given = with_fallback({"host": "https://example.org"})
    assert given["ca_fallback"] == str(package / "cacert.pem")
    assert with_fallback({"host": "https://example.org", "ca_fallback": "x"})["ca_fallback"] == "x"
    assert with_fallback({"host": None}) == {"host": None}
    assert with_fallback({"backend": "files"}) == {"backend": "files"}
