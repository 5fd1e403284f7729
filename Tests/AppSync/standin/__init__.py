"""A server that answers as AWS AppSync does, for tests: see README.md beside this package."""

from .errors import SchemaError
from .testing import Process, StandIn
from .web.server import Server
from .web.service import Options

__all__ = ["Options", "Process", "SchemaError", "Server", "StandIn"]
