"""Every way in which an answer gets lost or damaged on its way, and none that merely changes a value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.command import Reply


def damaged(reply: Reply, others: Reply) -> Iterator[tuple[str, Reply]]:
    """Yield the name of each damage with the reply as it arrives; ``others``: what another device or server said."""
    out, err = reply.stdout, reply.stderr
    yield "empty", replace(reply, stdout="", stderr="")
    yield "empty and failed", replace(reply, stdout="", stderr="", exit=1)
    yield "on the wrong stream", replace(reply, stdout=err, stderr=out)
    yield "status flipped", replace(reply, exit=1 if reply.exit == 0 else 0)
    yield "hangs", replace(reply, stdout="", stderr="", exit=None)
    yield "hangs after its words", replace(reply, exit=None)
    yield "garbage", replace(reply, stdout="\x00\x1b[31m�" * 20, stderr="", exit=0)
    yield "crashed", replace(reply, stdout="", stderr="Segmentation fault\n", exit=139)
    yield "not found", replace(reply, stdout="", stderr="sh: 1: x: not found\n", exit=127)
    yield "another program's words", replace(reply, stdout="OK\nready\nno error\n", stderr="", exit=0)
    yield "usage", replace(reply, stdout="usage: x [-h]\n", stderr="", exit=0)
    yield "painted", replace(reply, stdout="".join(f"\x1b[32m{x}\x1b[0m\n" for x in out.splitlines()))
    yield "of another", replace(reply, stdout=others.stdout, stderr=others.stderr, exit=others.exit)
    yield "full-width colons", replace(reply, stdout=out.replace(":", "："))
    yield "of a CRLF machine", replace(reply, stdout=out.replace("\n", "\r\n"))
    yield from _by_line(reply)


def _by_line(reply: Reply) -> Iterator[tuple[str, Reply]]:
    lines = reply.stdout.splitlines(keepends=True)
    for number, line in enumerate(lines):
        before, after = lines[:number], lines[number + 1 :]
        yield f"cut before line {number}", replace(reply, stdout="".join(before))
        yield f"cut inside line {number}", replace(reply, stdout="".join([*before, line[: len(line) // 2]]))
        yield (
            f"cut inside line {number}, newline added",
            replace(reply, stdout="".join([*before, line[: len(line) // 2], "\n"])),
        )
        yield f"cut at the end of line {number}", replace(reply, stdout="".join([*before, line.rstrip("\n")]))
        yield f"without line {number}", replace(reply, stdout="".join([*before, *after]))
        yield f"line {number} twice", replace(reply, stdout="".join([*before, line, line, *after]))
        yield f"line {number} first", replace(reply, stdout="".join([line, *before, *after]))
        yield f"unknown word at line {number}", replace(reply, stdout="".join([*before, "Xyzzy: 3\n", line, *after]))
