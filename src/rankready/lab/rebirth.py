"""Builds one server anew in a process of its own; prints the pid of its pid 1, or why there is none."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rankready.lab import server
from rankready.lab.ground_netns import hosts_text
from rankready.lab.spec import read_spec
from rankready.lab.wiring import wire
from rankready.model.errors import LabError


def main() -> None:
    """``argv[1]`` is what ``Lives.start`` asks for, as JSON."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    spec = read_spec(asked["spec"], Path(asked["directory"]))
    wiring = wire(spec)
    body = server.Body(
        machine=wiring.machine(asked["server"]),
        devices=spec.devices,
        overlay=asked["overlay"],
        hosts=hosts_text(wiring),
        keep=server.keep_paths(),
        conf=asked["conf"],
    )
    try:
        said = str(server.give_birth([body])[asked["server"]])
    except (LabError, OSError) as error:
        said = str(error)
    sys.stdout.write(f"{said}\n")


if __name__ == "__main__":
    main()
