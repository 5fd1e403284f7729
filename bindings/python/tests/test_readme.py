"""Every sample of the README runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kvstored import Server

README = Path(__file__).resolve().parents[1] / "README.md"
SAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_readme_has_samples() -> None:
    assert len(SAMPLES) >= 4


def test_the_samples_run_one_after_the_other(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"HOST": server.host}
    for sample in SAMPLES:
        code = sample.replace('"https://baas.example.com"', "HOST")
        exec(compile(code, str(README), "exec", dont_inherit=True), names)
