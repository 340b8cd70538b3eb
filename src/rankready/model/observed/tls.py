"""Facts about TLS on a device's network (facts/hccn 3.1)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """One certificate that is loaded: its role, issuer and validity in the tool's words."""

    role: str
    issuer: str
    start: str
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsReport:
    """All that the tool tells about TLS. None: an old driver, or not said. ``expiry``: normal, near or expired."""

    enabled: bool
    preset: bool | None = None
    alarm_days: int | None = None
    certificates: tuple[Certificate, ...] = ()
    expiry: str | None = None
