"""The errors that we raise on purpose.

::

    RankreadyError        printed without a traceback
    ├── ConfigError       the user's files are wrong: file, line, path, what was expected
    ├── PlanError         the rules can't be met: which rule, what would do
    ├── StalePlan         the cluster moved since the plan was made
    ├── Locked            someone else is changing this cluster: who, since when
    ├── Unreachable       a server did not answer
    │   └── Unanswered    nor did it refuse: another try may help
    ├── Unreadable        a server answered in words that we don't know
    └── LabError          the make-believe cluster can't do that here: what, and why

A remote command that ends non-zero is a ``Reply``, not an exception.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankready.model.text import Text


class RankreadyError(Exception):
    """Something that the user can act on; printed without a traceback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake in a file of the user's: where it is, what was seen, what is expected."""

    file: str
    line: int | None
    path: str
    seen: str
    expected: str
    hint: str = ""

    def __str__(self) -> str:
        """One line: place, what was seen, what is expected, and a hint."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        tail = f" ({self.hint})" if self.hint else ""
        return f"{where}: {self.path}: {self.seen}; expected {self.expected}{tail}"


class ConfigError(RankreadyError):
    """The user's files are wrong; holds every mistake of the file, not only the first."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        """Take all mistakes of one reading."""
        self.mistakes = mistakes
        super().__init__("\n".join(str(m) for m in mistakes))


class PlanError(RankreadyError):
    """The rules can't be met: which rule, and what would do."""


class StalePlan(RankreadyError):  # noqa: N818  (named for the state, as in the design's table)
    """The cluster moved since the plan was made."""


class Locked(RankreadyError):  # noqa: N818  (the same)
    """Someone else is changing this cluster."""


class Unreachable(RankreadyError):  # noqa: N818  (the same)
    """A server did not answer."""


class Unanswered(Unreachable):
    """A server did not answer, nor did it refuse us: another try may help (facts/transport 5.8)."""


class Unreadable(RankreadyError):  # noqa: N818  (the same)
    """A server answered in words that we don't know."""


class LabError(RankreadyError):
    """The make-believe cluster can't do that here: what was asked, and why not; ``text`` in both languages.

    Without ``zh`` the words are a program's own, the same in either.
    """

    def __init__(self, en: str, *, zh: str = "") -> None:
        """Take the statement in English and in Chinese."""
        self.text = Text(en=en, zh=zh or en)
        super().__init__(en)
