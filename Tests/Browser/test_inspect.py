"""``kvstore inspect --web`` in a real browser: Debian's Chromium, without a window."""

from __future__ import annotations

import http.client
import http.server
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import kvstore
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

KEY = "kid_test"


@dataclass(frozen=True)
class Served:
    """A screen that is served, and the store behind it."""

    address: str
    data: Path

    @property
    def authority(self) -> str:
        """Give the address and the port."""
        return urlsplit(self.address).netloc


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Serve the screen of a store with two notes."""
    data = tmp_path / "data"
    with kvstore.Client(app_key=KEY, host=None, data_directory=data) as client:
        client.collection("notes").save_many([{"_id": "milk"}, {"_id": "wine"}])
    command = [sys.executable, "-m", "kvstore.cli", "--dir", str(data), "inspect", "--web"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
        assert found is not None
        yield Served(found[0], data)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)
    assert process.returncode in (0, 130)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    """Start a browser with a profile of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for word in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{word}")
    options.add_argument(f"--user-data-dir={tmp_path / 'profile'}")
    options.add_argument("--window-size=1200,800")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService("/usr/bin/chromedriver")
    browser = webdriver.Chrome(options=options, service=service)
    yield browser
    browser.quit()


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for something that happens in the browser."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.1)


def test_the_screen_works_in_a_browser(served: Served, browser: webdriver.Chrome) -> None:
    browser.get(served.address)
    # The token is gone from the address, which others may see.
    token = served.address.partition("token=")[2]
    page = urlsplit(browser.current_url)
    assert page.netloc == served.authority
    assert token not in browser.current_url
    (cookie,) = browser.get_cookies()
    assert cookie["httpOnly"]
    assert (cookie["sameSite"], cookie["path"]) == ("Strict", page.path)
    assert cookie["value"] != token
    first_byte = "return document.body.classList.contains('-first-byte')"
    until(lambda: browser.execute_script(first_byte), "the screen")

    browser.find_element("css selector", ".xterm-screen").click()

    def press(*keys: str) -> None:
        ActionChains(browser).send_keys(*keys).perform()

    with kvstore.Client(app_key=KEY, host=None, data_directory=served.data) as client:
        notes = client.collection("notes")

        def dropped() -> bool:
            press("2")
            time.sleep(0.5)
            press("d")
            time.sleep(0.5)
            press("y")
            return len(notes.pending) < 2

        until(dropped, "a write that is dropped by keys in the browser")
        press(Keys.ESCAPE)
    # The page asks for a font of somebody else's, and is not allowed to; it has no icon.
    lines = browser.execute("getLog", {"type": "browser"})["value"]
    severe = [line["message"] for line in lines if line["level"] == "SEVERE"]
    assert [line for line in severe if "fonts.goog" not in line and "favicon" not in line] == []
    assert len(browser.get_screenshot_as_png()) > 10_000


def ask(served: Served, path: str, **headers: str) -> http.client.HTTPResponse:
    """Ask for a path as another program would."""
    connection = http.client.HTTPConnection(served.authority, timeout=20)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET", path, headers=names)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def status(served: Served, path: str, **headers: str) -> int:
    """Give the status of such an answer."""
    return ask(served, path, **headers).status


def test_nobody_gets_in_without_the_token(served: Served) -> None:
    token = served.address.partition("token=")[2]
    forged = f"kvstore-{served.authority.partition(':')[2]}={token}"
    for path in ("/", "/ws", "/static/js/textual.js", "/?token=guess", f"/ws?token={token}"):
        assert status(served, path) == 403, path
    assert status(served, f"/?token={token}", Host="evil.example") == 403
    login = ask(served, f"/?token={token}")
    page, cookie = login.headers["Location"], login.headers["Set-Cookie"].partition(";")[0]
    assert token not in page + cookie
    assert status(served, page, Cookie=cookie) == 200
    assert status(served, f"{page}static/js/textual.js", Cookie=cookie) == 200
    for path in (page, f"{page}ws", f"{page}static/js/textual.js"):
        assert status(served, path) == 403, path
        assert status(served, path, Cookie=forged) == 403, path
        assert status(served, path, Cookie=f"{cookie}x") == 403, path
        assert status(served, path, Cookie=cookie, Host="evil.example") == 403, path
    assert status(served, f"{page}ws", Cookie=cookie, Origin="http://evil.example") == 403


def test_the_token_is_good_for_one_login(served: Served) -> None:
    token = served.address.partition("token=")[2]
    assert status(served, f"/?token={token}") == 302
    assert status(served, f"/?token={token}") == 403


def test_another_port_of_this_machine_does_not_receive_the_cookie(
    served: Served, browser: webdriver.Chrome
) -> None:
    """Cookies ignore ports: only the path keeps this one back."""
    received: list[str | None] = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append(self.headers["Cookie"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    browser.get(served.address)
    with http.server.HTTPServer(("127.0.0.1", 0), Other) as other:
        worker = threading.Thread(target=other.handle_request)
        worker.start()
        browser.get(f"http://127.0.0.1:{other.server_port}/")
        worker.join()
    assert received == [None]


def test_only_this_machine_reaches_it(served: Served) -> None:
    port = int(served.authority.partition(":")[2])
    listeners = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    found = re.findall(rf"\d+: ([0-9A-F]+):{port:04X} \S+ 0A ", listeners)
    assert found == ["0100007F"]
