"""``kvstore inspect --web`` in a real browser: Debian's Chromium, without a window."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
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
    assert browser.current_url == f"http://{served.authority}/"
    assert [cookie["httpOnly"] for cookie in browser.get_cookies()] == [True]
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


def answer(served: Served, path: str, **headers: str) -> int:
    """Ask for a path as somebody else would; give the status."""
    connection = http.client.HTTPConnection(served.authority, timeout=20)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET", path, headers=names)
    status = connection.getresponse().status
    connection.close()
    return status


def test_nobody_gets_in_without_the_token(served: Served) -> None:
    token = served.address.partition("token=")[2]
    cookie = f"kvstore-{served.authority.partition(':')[2]}={token}"
    assert answer(served, "/", Cookie=cookie) == 200
    assert answer(served, "/static/js/textual.js", Cookie=cookie) == 200
    for path in ("/", "/ws", "/static/js/textual.js", "/?token=guess", f"/ws?token={token}"):
        assert answer(served, path) == 403, path
    assert answer(served, "/", Cookie=f"{cookie}x") == 403
    assert answer(served, "/", Cookie=cookie, Host="evil.example") == 403
    assert answer(served, "/ws", Cookie=cookie, Origin="http://evil.example") == 403


def test_only_this_machine_reaches_it(served: Served) -> None:
    port = int(served.authority.partition(":")[2])
    listeners = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    found = re.findall(rf"\d+: ([0-9A-F]+):{port:04X} \S+ 0A ", listeners)
    assert found == ["0100007F"]
