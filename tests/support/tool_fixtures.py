"""Recorded words of the vendor's tools, and how a reader is found for each."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rankready.model.command import Command, Reply
from rankready.tools import driver, hccn_conf, hccn_tool, lspci, npu_smi

FOLDER = Path(__file__).parents[1] / "tools" / "fixtures"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    name: str
    argv: tuple[str, ...]
    stdout: str
    stderr: str
    exit: int

    def reply(self, **changed: object) -> Reply:
        words: dict[str, object] = {"stdout": self.stdout, "stderr": self.stderr, "exit": self.exit, **changed}
        return Reply(command=Command(argv=self.argv), **words)  # type: ignore[arg-type]


@cache
def recorded() -> dict[str, Recorded]:
    rows = json.loads((FOLDER / "manifest.json").read_text())
    return {row["name"]: _one(row) for row in rows}


def _one(row: dict[str, object]) -> Recorded:
    def text(key: str) -> str:
        return (FOLDER / str(row[key])).read_bytes().decode() if row[key] else ""

    argv = tuple(shlex.split(str(row["argv"])))
    return Recorded(
        name=str(row["name"]), argv=argv, stdout=text("stdout"), stderr=text("stderr"), exit=int(str(row["rc"]))
    )


def read(item: Recorded, reply: Reply | None = None) -> object:
    program, *rest = item.argv
    said = reply or item.reply()
    match program:
        case "hccn_tool":
            return hccn_tool.reader(tuple(rest))(said)
        case "npu-smi":
            return npu_smi.reader(tuple(rest))(said)
        case "lspci":
            return lspci.reader(())(said)
        case "cat" if rest == ["/etc/hccn.conf"]:
            return hccn_conf.reader(())(said)
        case "cat":
            return driver.reader(())(said)
    raise LookupError(program)
