"""Servers of git repositories on this machine: git's daemon, smart HTTP, SSH, and faulty ones."""

from __future__ import annotations

import getpass
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, BaseServer, ThreadingTCPServer
from typing import Any

from tests.support.needed import cannot_run, need
from tests.support.waiting import wait_until

_HERE = "127.0.0.1"
_PART = 1 << 16


@contextmanager
def daemon(folder: Path, *, takes_pushes: bool = True) -> Iterator[str]:
    """Serve the repositories of a folder by git's own protocol; yield its address."""
    port = _free_port()
    command = [str(_git_program("git-daemon")), f"--base-path={folder}", f"--port={port}"]
    command += [f"--listen={_HERE}", "--reuseaddr", "--export-all"]
    command += ["--enable=receive-pack"] if takes_pushes else []
    with _running(command, port):
        yield f"git://{_HERE}:{port}"


@contextmanager
def ssh(folder: Path, home: Path) -> Iterator[tuple[str, str]]:
    """Serve a folder over SSH; yield its address, and the command that has a key for it.

    The server has a configuration, a port and keys of its own, and runs as this user.
    """
    need("ssh", "ssh-keygen")
    server = shutil.which("sshd") or "/usr/sbin/sshd"
    if not os.path.exists(server):
        cannot_run("needs sshd")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # without it no sshd of root's starts
    home.mkdir(exist_ok=True)
    port = _free_port()
    for name in ("host", "user"):
        words = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(home / name))
        subprocess.run(words, check=True)
    settings = (
        *(f"ListenAddress {_HERE}:{port}", f"HostKey {home / 'host'}", "PidFile none"),
        *(f"AuthorizedKeysFile {home / 'user.pub'}", "StrictModes no", "UsePAM no"),
        *("PasswordAuthentication no", "KbdInteractiveAuthentication no", "PrintMotd no"),
        f"SetEnv HOME={home}",  # nothing of the user's is read
    )
    (home / "sshd_config").write_text("\n".join((*settings, "")))
    public = (home / "host.pub").read_text()
    (home / "known_hosts").write_text(f"[{_HERE}]:{port} {public}")
    client = f"ssh -F none -i {home / 'user'} -o UserKnownHostsFile={home / 'known_hosts'}"
    with _running([server, "-D", "-e", "-f", str(home / "sshd_config")], port):
        yield f"ssh://{getpass.getuser()}@{_HERE}:{port}{folder}", client


@contextmanager
def http(folder: Path, *, status: int = 200, drops: bool = False) -> Iterator[str]:
    """Serve a folder over smart HTTP, by git's own program; yield its address.

    status is what every request is answered with, where it is not 200. drops is whether pushes are
    taken, and praised, and thrown away.
    """
    handler = type("Handler", (_HttpHandler,), {"root": folder, "code": status, "drops": drops})
    with ThreadingHTTPServer((_HERE, 0), handler) as server, _serving(server):
        yield f"http://{_HERE}:{server.server_port}"


@contextmanager
def silent() -> Iterator[str]:
    """Yield host and port of a server that takes connections and never says a word."""
    with socket.create_server((_HERE, 0)) as server:
        yield f"{_HERE}:{server.getsockname()[1]}"


@contextmanager
def cut_off(port: int, after: int) -> Iterator[str]:
    """Pass connections on to a port, and cut each once so many bytes went either way."""
    handler = type("Handler", (_CutConnection,), {"port": port, "after": after})
    with ThreadingTCPServer((_HERE, 0), handler) as server, _serving(server):
        yield f"{_HERE}:{server.server_address[1]}"


@contextmanager
def _serving(server: BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def nobody() -> str:
    """Return host and port where no server is."""
    return f"{_HERE}:{_free_port()}"


class _CutConnection(BaseRequestHandler):
    """Passes bytes on to a port in both directions, and stops after so many."""

    port = 0
    after = 0

    def handle(self) -> None:
        left = self.after
        with suppress(OSError), socket.create_connection((_HERE, self.port)) as there:
            ends = {self.request: there, there: self.request}
            while left > 0:
                for source in select.select(list(ends), [], [])[0]:
                    part = source.recv(min(_PART, left))
                    if not part:
                        return
                    left -= len(part)
                    ends[source].sendall(part)


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )

    def answers() -> bool:
        assert process.stderr is not None
        assert process.poll() is None, process.stderr.read().decode()
        with suppress(OSError), socket.create_connection((_HERE, port), 1):
            return True
        return False

    try:
        wait_until(answers, otherwise=f"{command[0]} does not answer")
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _free_port() -> int:
    with socket.create_server((_HERE, 0)) as probe:
        return int(probe.getsockname()[1])


def _git_program(name: str) -> Path:
    done = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip()) / name
    if not path.exists():
        cannot_run(f"needs {name}")
    return path


class _HttpHandler(BaseHTTPRequestHandler):
    """Runs `git http-backend` for each request, as a web server would."""

    root = Path()
    code = 200
    drops = False

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, body: bytes) -> None:
        if self.code != 200:
            self.send_error(self.code)
            return
        path, _, query = self.path.partition("?")
        root = self.root
        is_thrown_away = self.drops and path.endswith("git-receive-pack") and bool(body)
        if is_thrown_away:
            root = self.root.with_name(f"{self.root.name}-thrown-away")
            shutil.copytree(self.root, root, symlinks=True)
        done = subprocess.run(
            [str(_git_program("git-http-backend"))],
            input=body,
            env={**os.environ, **self._variables(root, path, query)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if is_thrown_away:
            shutil.rmtree(root)
        head, _, said = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.send_response(int(fields.pop("Status", "200").split(" ")[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(said)

    def _variables(self, root: Path, path: str, query: str) -> dict[str, str]:
        return {
            "GIT_PROJECT_ROOT": str(root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": "somebody",
            "REMOTE_ADDR": _HERE,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
