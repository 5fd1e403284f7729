"""`python -m standin --schema x.graphql --port 0`: prints where it listens, as a line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from .auth.authenticate import DEFAULT_KEY, Settings
from .auth.sigv4 import Credentials
from .clock import Clock
from .errors import SchemaError
from .web.server import Server
from .web.service import Options


def main(arguments: list[str]) -> int:
    given = parser().parse_args(arguments)
    try:
        server = Server(options(given))
    except (SchemaError, OSError) as error:
        print(f"standin: {error}", file=sys.stderr)
        return 2
    asyncio.run(serve(server))
    return 0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="standin", description=__doc__)
    parser.add_argument("--schema", type=Path, required=True, help="the SDL, with its directives")
    parser.add_argument("--port", type=int, default=0, help="0 is any that is free")
    parser.add_argument("--data", type=Path, help="the file that keeps the records")
    parser.add_argument("--now", type=int, help="milliseconds since 1970: the clock stands still")
    parser.add_argument("--api-key", action="append", help=f"usual: {DEFAULT_KEY}")
    parser.add_argument("--jwt-secret", help="tokens must be signed by it (HS256)")
    parser.add_argument("--oidc-issuer", action="append", default=[])
    parser.add_argument("--lambda-token", action="append", default=[])
    parser.add_argument("--access-key", action="append", default=[], metavar="KEY:SECRET[:SESSION]")
    parser.add_argument("--region", help="what signatures must be scoped to")
    parser.add_argument("--keep-alive", type=float, default=60, help="seconds between two ka")
    parser.add_argument("--connection-timeout", type=int, default=300_000, help="milliseconds")
    parser.add_argument("--max-subscriptions", type=int, default=100, help="of one socket")
    parser.add_argument("--max-connections", type=int, default=1000)
    return parser


def options(given: argparse.Namespace) -> Options:
    return Options(
        given.schema.read_text("utf-8"),
        given.data,
        Clock(given.now),
        settings(given),
        given.connection_timeout,
        given.keep_alive,
        given.max_subscriptions,
        given.max_connections,
        port=given.port,
    )


def settings(given: argparse.Namespace) -> Settings:
    keys = [each.split(":", 2) for each in given.access_key]
    return Settings(
        dict.fromkeys(given.api_key or [DEFAULT_KEY]),
        given.jwt_secret,
        set(given.oidc_issuer),
        {token: {} for token in given.lambda_token},
        {key: Credentials(*rest) for key, *rest in keys},
        given.region,
    )


async def serve(server: Server) -> None:
    """Serves until SIGTERM or SIGINT."""
    await server.start()
    print(json.dumps({"port": server.port, "endpoint": f"{server.url}/graphql"}), flush=True)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()
    await server.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
