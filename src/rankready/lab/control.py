"""How a second command reaches a running lab: one JSON line each way over a Unix socket in the lab's folder."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

SOCKET = "control"
REQUEST_TIMEOUT_S = 60.0
_MOST_BYTES = 16 * 1024 * 1024

Message = dict[str, Any]


def listen(directory: Path) -> socket.socket:
    """Bind the control socket; only its owner may connect."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short(directory) as path:
            listener.bind(path)
        (directory / SOCKET).chmod(0o600)
        listener.listen(16)
    except OSError as error:
        listener.close()
        raise LabError(f"{directory / SOCKET}: {error.strerror or error}") from error
    return listener


def ask(directory: Path, question: Message, timeout_s: float = REQUEST_TIMEOUT_S) -> Message:
    """Send one request and return what it gave. Raises LabError with the lab's words, or when it does not answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(timeout_s)
        try:
            with _short(directory) as path:
                link.connect(path)
            link.sendall(json.dumps(question).encode() + b"\n")
            with link.makefile("rb") as stream:
                line = stream.readline(_MOST_BYTES)
        except TimeoutError as error:
            raise LabError(
                f"the lab in {directory} did not answer within {timeout_s:g} s",
                zh=f"{directory} 中的模拟集群 {timeout_s:g} 秒内无应答",
            ) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise LabError(
                f"no lab runs in {directory}: {reason}", zh=f"{directory} 中没有运行的模拟集群：{reason}"
            ) from error
    if not line:
        raise LabError(f"the lab in {directory} ended while it was asked", zh=f"{directory} 中的模拟集群在应答前已结束")
    answer: Message = json.loads(line)
    if "error" in answer:
        raise LabError(answer["error"], zh=answer.get("zh", ""))
    found: Message = answer["ok"]
    return found


async def serve(listener: socket.socket, answer: Callable[[Message], Awaitable[Message]]) -> asyncio.Server:
    """Answer requests until cancelled; each within a bounded time."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await asyncio.wait_for(reader.readline(), REQUEST_TIMEOUT_S)
            if line:
                writer.write(json.dumps(await _answered(line, answer)).encode() + b"\n")
                await writer.drain()
        except (OSError, TimeoutError):
            pass
        finally:
            writer.close()

    return await asyncio.start_unix_server(talk, sock=listener, limit=_MOST_BYTES)


async def _answered(line: bytes, answer: Callable[[Message], Awaitable[Message]]) -> Message:
    try:
        return {"ok": await asyncio.wait_for(answer(json.loads(line)), REQUEST_TIMEOUT_S)}
    except LabError as error:
        return {"error": error.text.en, "zh": error.text.zh}
    except TimeoutError:
        return {"error": f"not done within {REQUEST_TIMEOUT_S:g} s", "zh": f"{REQUEST_TIMEOUT_S:g} 秒内未完成"}
    except (ValueError, KeyError, TypeError) as error:
        return {"error": f"not a request: {error!r}"}


@contextmanager
def _short(directory: Path) -> Iterator[str]:
    """A path to the socket that fits into the 107 bytes of a socket address, however deep the folder is."""
    if not Path("/proc/self/fd").is_dir():
        yield str(directory / SOCKET)
        return
    fd = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{SOCKET}"
    finally:
        os.close(fd)
