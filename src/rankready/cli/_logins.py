"""How a person logs in to a server that did not answer: what to type next."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.model.finding import Outcome

if TYPE_CHECKING:
    from rankready.model.cluster import Cluster, Login
    from rankready.model.record import Record

SILENT = "HST001"


def with_logins(record: Record, cluster: Cluster) -> Record:
    """Add ``logins`` (server → ssh line) for the servers that a record could not look at."""
    silent = {v.place.name for v in record.verdicts if v.code == SILENT and v.outcome is Outcome.UNKNOWN}
    silent |= {place.name for place, _ in (record.plan.unread if record.plan else ())}
    lines = {s.name: ssh_line(s.login) for s in cluster.servers if s.name in silent}
    return replace(record, extra={**record.extra, "logins": lines}) if lines else record


def ssh_line(login: Login) -> str:
    """Return the command that logs in as rankready does, quoted for a shell."""
    words = ["ssh"]
    if login.port is not None:
        words += ["-p", str(login.port)]
    if login.key is not None:
        words += ["-i", str(login.key)]
    if login.known_hosts is not None:
        words += ["-o", f"UserKnownHostsFile={login.known_hosts}"]
    if login.jump:
        words += ["-J", login.jump]
    return shlex.join([*words, f"{login.user}@{login.host}" if login.user else login.host])
