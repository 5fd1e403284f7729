"""Business logic for kvstored in Python: a service with nothing but the standard library.

    LOGIC_SECRET=… python logic.py 9000

It gives books ids of its own, refuses those without a title, hides a member from readers, and has
an endpoint. What is general, looking at signatures and answering a repeated call as before, is in
`Handler`; the rules are functions.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Message = dict[str, Any]
Answer = tuple[int, Message]

SECRET = os.environ.get("LOGIC_SECRET", "").encode()
# Seconds: an older call may be one that somebody has recorded.
MAX_AGE = 300


def before_save(message: Message) -> Answer:
    """Refuse books without a title; give ids and an index for searching to the others."""
    errors = []
    for index, book in enumerate(message["entities"]):
        if not book.get("title"):
            errors.append(
                {"index": index, "error": "InputValidationFailed", "debug": "title is missing"}
            )
            continue
        book["key"] = book["title"].casefold()
        # Ids of 12 or 24 characters look like temporary ones to some original SDKs. Another id may
        # replace the server's choice; if the client has chosen the id, the server refuses the book.
        if len(book["_id"]) in (12, 24):
            book["_id"] += "_"
    return 200, {"entities": message["entities"], "errors": errors}


def after_fetch(message: Message) -> Answer:
    """Keep prices from readers."""
    for book in message["entities"]:
        book.pop("price", None)
    return 200, {"entities": message["entities"]}


def before_delete(message: Message) -> Answer:
    """Let nobody delete by a query."""
    if "query" in message:
        return 403, {"error": "InsufficientCredentials", "debug": "delete books one by one"}
    return 200, {}


def greet(message: Message) -> Answer:
    """Answer the endpoint `greet`."""
    return 200, {"greeting": f"Hello, {message.get('body', {}).get('name', 'world')}!"}


RULES: dict[str, Callable[[Message], Answer]] = {
    "before-save": before_save,
    "after-fetch": after_fetch,
    "before-delete": before_delete,
    "custom": greet,
}


class Handler(BaseHTTPRequestHandler):
    """Answers calls that kvstored has signed."""

    protocol_version = "HTTP/1.1"
    # The answers to the last calls, so that a repeated one does nothing twice.
    answered: ClassVar[OrderedDict[str, Answer]] = OrderedDict()

    def do_POST(self) -> None:
        """Look at the signature, and let the rule of the event answer."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        delivery = self.headers.get("X-Kvstored-Delivery", "")
        if not self.is_genuine(delivery, body):
            self.answer(401, {"debug": "the signature is wrong"})
            return
        if delivery not in self.answered:
            message = json.loads(body)
            rule = RULES.get(message["event"])
            self.answered[delivery] = rule(message) if rule else (200, {})
            while len(self.answered) > 1000:
                self.answered.popitem(last=False)
        self.answer(*self.answered[delivery])

    def is_genuine(self, delivery: str, body: bytes) -> bool:
        """Tell whether somebody who knows the secret has sent this a short while ago."""
        sent = self.headers.get("X-Kvstored-Timestamp", "")
        event = self.headers.get("X-Kvstored-Event", "")
        signed = f"{sent}.{delivery}.{event}.".encode() + body
        code = hmac.new(SECRET, signed, hashlib.sha256).hexdigest()
        given = self.headers.get("X-Kvstored-Signature", "")
        return (
            hmac.compare_digest(given, "sha256=" + code) and abs(time.time() - int(sent)) < MAX_AGE
        )

    def answer(self, status: int, value: Message) -> None:
        """Send a JSON object."""
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: kvstored logs what fails."""


def main() -> None:
    """Serve until the program is ended."""
    if len(SECRET) < 16:
        sys.exit("LOGIC_SECRET has 16 bytes or more")
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
