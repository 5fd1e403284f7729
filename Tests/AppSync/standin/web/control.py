"""The endpoint by which tests set the clock and faults, and see records and the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from ..auth.identity import Mode
from ..auth.sigv4 import Credentials
from ..data.conflicts import Strategy
from ..data.record import key_of
from .connection import Connection
from .faults import Fault
from .realtime import Realtime
from .service import Service

SOCKET_ACTIONS = {
    "cut": Connection.cut,
    "close": Connection.close,
    "silence": Connection.silence,
    "keepAlive": Connection.keep_alive,
}
Answer = Any
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """`/control/…`: each path takes a JSON object and answers with one."""

    def __init__(self, service: Service, realtime: Realtime) -> None:
        self.service = service
        self.realtime = realtime
        self.questions: list[dict[str, Any]] = []

    def routes(self) -> list[web.RouteDef]:
        posts: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "clock": self.set_clock,
            "faults": self.add_fault,
            "gates": self.open_gate,
            "conflicts": self.set_conflicts,
            "function": self.set_function,
            "lifetimes": self.set_lifetimes,
            "auth": self.set_auth,
            "sockets": self.act_on_sockets,
            "limits": self.set_limits,
            "reset": self.reset,
        }
        routes = [web.post(f"/control/{name}", json_handler(post)) for name, post in posts.items()]
        return [
            *routes,
            web.delete("/control/faults", self.clear_faults),
            web.delete("/clear-data", json_handler(self.reset)),
            web.get("/control/clock", self.get_clock),
            web.get("/control/log", self.get_log),
            web.delete("/control/log", self.clear_log),
            web.get("/control/function", self.get_questions),
            web.get("/control/tables/{model}", self.get_table),
            web.post("/control/tables/{model}", self.fill_table),
        ]

    def set_clock(self, given: dict[str, Any]) -> Answer:
        """`now` stops it at a time, `advance` moves it, `{}` lets it follow the machine's."""
        clock = self.service.clock
        if "now" in given:
            clock.set(int(given["now"]))
        elif "advance" in given:
            clock.advance(int(given["advance"]))
        else:
            clock.follow_machine()
        for connection in self.realtime.connections:
            connection.check_time()
        return {"now": clock.now()}

    async def get_clock(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"now": self.service.clock.now()})

    def add_fault(self, given: dict[str, Any]) -> Answer:
        self.service.faults.add(Fault.read(given))
        return {}

    async def clear_faults(self, _: web.Request) -> web.StreamResponse:
        self.service.faults.clear()
        return web.json_response({})

    def open_gate(self, given: dict[str, Any]) -> Answer:
        self.service.faults.open(given["open"])
        return {}

    def set_conflicts(self, given: dict[str, Any]) -> Answer:
        """The strategy of each model that is named."""
        self.service.database.strategies |= {model: Strategy(name) for model, name in given.items()}
        return {}

    def set_function(self, given: dict[str, Any]) -> Answer:
        """`answers` of the custom conflict handler, one after the other, the last one for ever."""
        answers = list(given["answers"])
        self.questions.clear()

        def function(question: dict[str, Any]) -> Any:
            self.questions.append(question)
            return answers.pop(0) if len(answers) > 1 else answers[0]

        self.service.database.function = function
        return {}

    async def get_questions(self, _: web.Request) -> web.StreamResponse:
        """What the custom conflict handler was asked."""
        return web.json_response({"questions": self.questions})

    def set_lifetimes(self, given: dict[str, Any]) -> Answer:
        """Milliseconds of `tombstones` and of `deltas`."""
        lifetimes = self.service.database.lifetimes
        lifetimes.tombstones = int(given.get("tombstones", lifetimes.tombstones))
        lifetimes.deltas = int(given.get("deltas", lifetimes.deltas))
        return {}

    def set_auth(self, given: dict[str, Any]) -> Answer:
        read_auth(self.service, given)
        return {}

    def act_on_sockets(self, given: dict[str, Any]) -> Answer:
        """`cut`, `close`, `silence` or `keepAlive` for all sockets."""
        connections = list(self.realtime.connections)
        action = SOCKET_ACTIONS[given["action"]]
        for connection in connections:
            action(connection)
        return {"count": len(connections)}

    def set_limits(self, given: dict[str, Any]) -> Answer:
        options = self.service.options
        options.max_subscriptions = int(given.get("subscriptions", options.max_subscriptions))
        options.max_connections = int(given.get("connections", options.max_connections))
        return {}

    def reset(self, _: dict[str, Any]) -> Answer:
        self.service.reset()
        self.questions.clear()
        for connection in list(self.realtime.connections):
            connection.cut()
        return {}

    async def get_log(self, request: web.Request) -> web.StreamResponse:
        """The entries after number `after`, once there are `count` or `wait` seconds are over."""
        query = request.query
        after, number = int(query.get("after", 0)), int(query.get("count", 0))
        entries = await self.service.log.wait(after, number, float(query.get("wait", 0)))
        return web.json_response({"entries": entries})

    async def clear_log(self, _: web.Request) -> web.StreamResponse:
        self.service.log.clear()
        return web.json_response({})

    async def get_table(self, request: web.Request) -> web.StreamResponse:
        """All rows of the base table, tombstones too."""
        table = self.service.database.tables.get(request.match_info["model"])
        if table is None:
            raise web.HTTPNotFound
        return web.json_response({"rows": [row for _, row in table.scan()]})

    async def fill_table(self, request: web.Request) -> web.StreamResponse:
        """Writes records as something outside would that tells no subscriber."""
        model = self.service.database.models.get(request.match_info["model"])
        if model is None:
            raise web.HTTPNotFound
        for record in (await request.json())["rows"]:
            key = key_of(record, model.key)
            if key is None:
                raise web.HTTPBadRequest(text=f"a row without {model.key}")
            self.service.database.table(model).write(key, record)
        return web.json_response({})


def read_auth(service: Service, given: dict[str, Any]) -> None:
    """Takes the members of the settings that are given."""
    settings = service.auth
    settings.api_keys = given.get("apiKeys", settings.api_keys)
    settings.jwt_secret = given.get("jwtSecret", settings.jwt_secret)
    settings.oidc_issuers = set(given.get("oidcIssuers", settings.oidc_issuers))
    settings.lambda_tokens = given.get("lambdaTokens", settings.lambda_tokens)
    settings.region = given.get("region", settings.region)
    service.hub.requires_owner = given.get("requiresOwner", service.hub.requires_owner)
    if "modes" in given:
        settings.modes = {Mode(each) for each in given["modes"]}
    for key, each in given.get("credentials", {}).items():
        settings.credentials[key] = Credentials(each["secret"], each.get("sessionToken"))


def json_handler(action: Callable[[dict[str, Any]], Answer]) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            given = await request.json() if request.can_read_body else {}
            return web.json_response(action(given))
        except (ValueError, TypeError, KeyError) as error:
            return web.json_response({"error": str(error)}, status=400)

    return handle
