"""A command as a value, and what came back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One program call on a server: an argument list, never a shell line.

    ``lane`` names what must not run at the same time: commands of one lane run one after another, lanes may overlap
    within a limit (facts/hccn 2.2). ``retry_busy`` asks for back-off when ``busy`` (a text) shows in either stream.
    ``shell`` is a constant script of our own, run as ``sh -c SHELL sh ARGV...``; never built from remote words.
    ``owner`` names who answers: after two of its calls ran out of time, one script asks it nothing more.
    """

    argv: tuple[str, ...]
    timeout_s: float = 15.0
    lane: str = ""
    stdin: str = ""
    busy: str = ""
    shell: str = ""
    owner: str = ""

    def __str__(self) -> str:
        """The command as a person would type it, for evidence."""
        return " ".join(self.argv)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one command answered. ``exit`` is None when it never ended by itself (timeout, lost connection).

    ``tries`` is 0 for a command that was not started: its owner had ceased to answer, or the script's time was up.
    ``duration_s`` is the last try's, as the server measured it; ``ended_s`` its own steady clock then. 0.0 where it
    could not measure.
    """

    command: Command
    stdout: str
    stderr: str
    exit: int | None
    duration_s: float = 0.0
    ended_s: float = 0.0
    tries: int = 1

    @property
    def both(self) -> str:
        """Both streams, for texts that tools print on either (facts/hccn 2.1)."""
        return f"{self.stdout}\n{self.stderr}"

    @property
    def first_line(self) -> str:
        """The first line that says anything, for reasons and evidence; at most 200 characters."""
        for line in self.both.splitlines():
            if line.strip():
                return line.strip()[:200]
        return "" if self.exit is None else f"(no output, exit {self.exit})"
