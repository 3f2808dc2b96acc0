"""An HTTP server on 127.0.0.1 that stands for a provider of models; a dialect says what it answers.

The hosts are real, and believe that they talk to their provider.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_LISTING = b'{"data": [], "models": [], "has_more": false}'
"""What is told to whoever asks which models there are."""


@dataclass(frozen=True)
class Posted:
    """A request as it came in; names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """The JSON object in the body, empty where there is none."""
        try:
            parsed = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}


@dataclass(frozen=True)
class Reply:
    """What goes back: JSON, or events one after the other."""

    body: bytes
    is_stream: bool = False
    status: int = 200


class ScriptedServer:
    """Answers requests as its dialect does; context manager."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, _kind: object, failure: BaseException | None, _trace: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_id(self, prefix: str) -> str:
        """An id that no answer of this server had before."""
        with self._lock:
            return f"{prefix}_{next(self._ids):04d}"

    def answer(self, posted: Posted) -> Reply:
        """Answer a request, in a thread of its own."""
        raise NotImplementedError


def _handler_for(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle(self) -> None:
            # A host that ends leaves its connections open.
            with contextlib.suppress(ConnectionResetError):
                super().handle()

        def do_GET(self) -> None:
            self._reply(Reply(_LISTING))

        do_HEAD = do_GET

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._reply(server.answer(Posted(self.path, headers, body)))

        def _reply(self, reply: Reply) -> None:
            try:
                self.send_response(reply.status)
                kind = "text/event-stream" if reply.is_stream else "application/json"
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply.body)
            except (BrokenPipeError, ConnectionResetError):
                # The agent was killed or gave up while its answer was held back.
                self.close_connection = True

    return Handler
