"""Facts about the optical module of a device's port (facts/hccn 3.1, 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

from rankready.model.text import Text

Lanes = tuple[float | None, ...]

LANES = 4  # of a module of 100 or 200 Gbit/s, as today's drivers list them


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The module's own thresholds for one quantity, in that quantity's unit; None: not told."""

    low: float | None = None
    high: float | None = None

    def hold(self, value: float) -> bool:
        """Tell whether a value lies within; an end that is not told holds everything."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    @property
    def span(self) -> Text:
        """The limits in words, without a unit."""
        if self.low is None or self.high is None:
            en = f"at least {self.low:g}" if self.low is not None else f"at most {self.high or 0:g}"
            return Text(en=en, zh=en.replace("at least", "不低于").replace("at most", "不高于"))
        return Text(en=f"{self.low:g} to {self.high:g}", zh=f"{self.low:g} 至 {self.high:g}")


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
