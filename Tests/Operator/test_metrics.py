"""/metrics, read by the parser of Prometheus' own client."""

from __future__ import annotations

import base64
import urllib.request

import pytest
from conftest import Start
from kvstored import Server, until
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[str, list[tuple[dict[str, str], float]]]


@pytest.fixture
def server(start: Start) -> Server:
    """Run a server for a test."""
    return start()


def get(server: Server, path: str) -> str:
    """Get something with the master secret."""
    request = urllib.request.Request(server.host + path)
    request.add_header("Authorization", "Basic " + base64.b64encode(b"kid:mas").decode())
    with urllib.request.urlopen(request) as answer:
        text: str = answer.read().decode()
    return text


def samples(text: str) -> Samples:
    """Read a page: the samples by their names."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation, family.name
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_every_family_has_a_type_and_a_help(server: Server) -> None:
    families = list(text_string_to_metric_families(get(server, "/metrics")))
    assert len(families) > 15
    assert {family.type for family in families} <= {"counter", "gauge", "histogram"}
    assert len({family.name for family in families}) == len(families)


def test_histograms_are_cumulative_and_end_with_their_count(server: Server) -> None:
    for _ in range(20):
        get(server, "/appdata/kid/notes")
    name = "kvstored_request_duration_seconds"

    def count(found: Samples) -> float:
        counts = {
            (labels["route"], labels["status"]): value
            for labels, value in found.get(name + "_count", [])
        }
        return counts.get(("collection", "200"), 0)

    # A request is counted after its answer.
    until(lambda: count(samples(get(server, "/metrics"))) >= 20)
    found = samples(get(server, "/metrics"))
    assert count(found) == 20
    buckets = [
        (float(labels["le"]), value)
        for labels, value in found[name + "_bucket"]
        if labels["route"] == "collection"
    ]
    assert buckets == sorted(buckets)
    assert [value for _, value in buckets] == sorted(value for _, value in buckets)
    assert buckets[-1] == (float("inf"), 20)
    assert len(found["kvstored_response_bytes_total"]) == len(found[name + "_count"])


def test_memory_and_storage_are_those_of_this_server(server: Server) -> None:
    found = samples(get(server, "/metrics"))
    assert 1 << 20 < found["process_resident_memory_bytes"][0][1] < 1 << 30
    assert found["process_open_fds"][0][1] > 3
    if "kvstored_pool_connections" in found:
        assert sum(value for _, value in found["kvstored_pool_connections"]) > 0
    else:
        parts = {labels["part"] for labels, _ in found["kvstored_storage_bytes"]}
        assert parts == {"database", "log"}
