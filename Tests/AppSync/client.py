"""A plain client of the stand-in, for tests."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from standin.testing import SECONDS, Controlled

API_KEY = {"x-api-key": "da2-standin"}
#: What tests select of a record.
SYNC = "_version _deleted _lastChangedAt"


@dataclass(frozen=True)
class Answer:
    """An HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Client:
    """Sends operations with the same headers each."""

    def __init__(self, server: Controlled, headers: Mapping[str, str] | None = None) -> None:
        self.endpoint = server.endpoint
        self.headers = dict(API_KEY if headers is None else headers)

    def post(self, body: bytes) -> Answer:
        request = urllib.request.Request(
            self.endpoint, data=body, headers={"Content-Type": "application/json", **self.headers}
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return Answer(answer.status, dict(answer.headers), json.loads(answer.read()))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), json.loads(error.read()))

    def run(self, query: str, **variables: Any) -> Any:
        """The body of the response."""
        return self.post(json.dumps({"query": query, "variables": variables}).encode()).body

    def data(self, query: str, **variables: Any) -> Any:
        """What the only field at the root gave; there must be no errors."""
        body = self.run(query, **variables)
        assert "errors" not in body, body["errors"]
        (value,) = body["data"].values()
        return value

    def error(self, query: str, **variables: Any) -> Any:
        """The only error of the response."""
        (error,) = self.run(query, **variables)["errors"]
        return error

    def write(self, field: str, fields: str, given: Mapping[str, Any], **more: Any) -> Any:
        """The body of a mutation's response: `createTask`, for instance, with an input."""
        return self.run(*self.mutation(field, fields), input=given, **more)

    def written(self, field: str, fields: str, given: Mapping[str, Any], **more: Any) -> Any:
        """What a mutation gave that succeeds."""
        return self.data(*self.mutation(field, fields), input=given, **more)

    def refused(self, field: str, fields: str, given: Mapping[str, Any], **more: Any) -> Any:
        """The error of a mutation that fails; its data is null."""
        body = self.write(field, fields, given, **more)
        assert body["data"] == {field: None}
        (error,) = body["errors"]
        return error

    @staticmethod
    def mutation(field: str, fields: str) -> tuple[str]:
        name = field[:1].upper() + field[1:]
        model = name.removeprefix("Create").removeprefix("Update").removeprefix("Delete")
        variables = f"$input: {name}Input!, $condition: Model{model}ConditionInput"
        call = f"{field}(input: $input, condition: $condition)"
        return (f"mutation ({variables}) {{ {call} {{ {fields} }} }}",)

    def sync(self, field: str, fields: str, **arguments: Any) -> Any:
        """A page of a sync query."""
        model = field.removeprefix("sync").removesuffix("s")
        variables = f"$filter: Model{model}FilterInput, $limit: Int, $nextToken: String, "
        variables += "$lastSync: AWSTimestamp"
        call = "filter: $filter, limit: $limit, nextToken: $nextToken, lastSync: $lastSync"
        page = f"items {{ {fields} {SYNC} }} nextToken startedAt"
        return self.data(f"query ({variables}) {{ {field}({call}) {{ {page} }} }}", **arguments)
