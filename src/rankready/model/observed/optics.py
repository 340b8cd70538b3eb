"""Facts about the optical module of a device's port (facts/hccn 3.1, 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

Lanes = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The module's own thresholds for one quantity, in that quantity's unit; None: not told."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Optics:
    """What the module tells of itself, lane values by lane number. None: not told, or the module does not know.

    ``present`` False is no fault by itself: blade boards have none. The four flags are bit masks over lanes.
    ``partial``: some of the labels that today's drivers print are not there.
    """

    present: bool
    vendor: str = ""
    part: str = ""
    serial: str = ""
    temperature_c: float | None = None
    vcc_mv: float | None = None
    tx_power_mw: Lanes = ()
    rx_power_mw: Lanes = ()
    tx_bias_ma: Lanes = ()
    host_snr_db: Lanes = ()
    media_snr_db: Lanes = ()
    temperature_limits_c: Limits = Limits()
    vcc_limits_mv: Limits = Limits()
    tx_power_limits_mw: Limits = Limits()
    rx_power_limits_mw: Limits = Limits()
    tx_los: int | None = None
    rx_los: int | None = None
    tx_lol: int | None = None
    rx_lol: int | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpticsSwitches:
    """Whether the module is looped back, and which lanes' transmitters are switched off (bit mask)."""

    loopback: bool
    tx_disabled: int
