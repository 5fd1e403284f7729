"""The HTTP server."""

from __future__ import annotations

from aiohttp import web

from .control import Control
from .endpoint import Endpoint
from .realtime import Realtime
from .service import Options, Service

MAX_BODY = 256 * 1024 * 1024


class Server:
    """Listens on the loopback interface."""

    def __init__(self, options: Options) -> None:
        """Throws SchemaError for an SDL that cannot be served."""
        self.service = Service(options)
        self.realtime = Realtime(self.service)
        self.port = options.port
        self._runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=0.1)

    @property
    def url(self) -> str:
        return f"http://{self.service.options.host}:{self.port}"

    async def start(self) -> None:
        """Begins to listen; `port` is then the one that it listens at."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.service.options.host, self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        for connection in list(self.realtime.connections):
            connection.cut()
        self.service.faults.clear()
        await self._runner.cleanup()
        self.service.database.close()

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=MAX_BODY)
        endpoint = Endpoint(self.service)
        application.add_routes(
            [
                web.post("/graphql", endpoint.post),
                web.get("/graphql", self.realtime.upgrade),
                web.get("/graphql/realtime", self.realtime.upgrade),
                *Control(self.service, self.realtime).routes(),
            ]
        )
        return application
