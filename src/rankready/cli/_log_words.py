"""What `explain` says of codes that logs show (EI0002, 507015, 0x81078603) and of kinds of first faults (LOG070)."""

from __future__ import annotations

from string import hexdigits

from rankready import catalog
from rankready.kind.signature import Fault, LogCode, Role
from rankready.model.text import Text

_ROLES = {
    Role.LOCAL: Text(en="the rank or device that shows it failed itself", zh="出现该码的 rank 或设备自身有故障"),
    Role.PEER: Text(
        en="it points at another rank; the one that shows it is mostly a victim", zh="指向其他 rank；报告者多为受害方"
    ),
    Role.GROUP: Text(
        en="ranks differ from each other; compare them, time does not tell",
        zh="rank 之间不一致；需相互比较，与时间先后无关",
    ),
    Role.TIMEOUT: Text(en="the rank that shows it only waited for another", zh="报告者只是在等待其他 rank"),
    Role.LEFT: Text(en="the other end was gone first", zh="对端先退出"),
    Role.NOISE: Text(en="it means nothing by itself", zh="单独出现不说明问题"),
}
_WHY = Text(
    en="`rankready why` looks for this first fault in the logs of all servers.",
    zh="`rankready why` 会在所有服务器日志中查找此类首个故障。",
)


def find(word: str) -> Fault | LogCode | None:
    """Find a code or a kind; ``x`` in a known code stands for any hexadecimal digit, case does not matter."""
    wanted = word.lower()
    for fault in catalog.offered("signatures", "FAULTS", Fault):
        if wanted in (fault.code.lower(), fault.kind):
            return fault
    codes = list(catalog.offered("signatures", "CODES", LogCode))
    exact = next((c for c in codes if c.code.lower() == wanted), None)
    return exact or next((c for c in codes if _fits(c.code.lower(), wanted)), None)


def words() -> list[str]:
    """All codes and kinds that there are."""
    faults = list(catalog.offered("signatures", "FAULTS", Fault))
    codes = [c.code for c in catalog.offered("signatures", "CODES", LogCode)]
    return [f.code for f in faults] + [f.kind for f in faults] + codes


def parts(found: Fault | LogCode) -> dict[str, Text]:
    """Return title, meaning, weight and cure, in the order in which they are told."""
    if isinstance(found, Fault):
        return {"title": _bare(found.title), "means": found.means, "matters": _WHY, "mend": _bare(found.mend)}
    return {"title": found.means, "means": found.means, "matters": _ROLES.get(found.role, _WHY), "mend": found.mend}


def _fits(known: str, word: str) -> bool:
    if "x" not in known[2:] or len(known) != len(word) or not word.startswith(known[:2]):
        return False
    pairs = zip(known[2:], word[2:], strict=True)
    return all(w in hexdigits if k == "x" else k == w for k, w in pairs)


def _bare(text: Text) -> Text:
    """A title without the places that a real fault fills in."""
    return Text(en=_without(text.en), zh=_without(text.zh))


def _without(text: str) -> str:
    out, deep = [], 0
    for character in text:
        deep += character == "{"
        if not deep:
            out.append(character)
        elif character == "}" and deep == 1:
            out.append("…")
        deep -= character == "}"
    return "".join(out)
