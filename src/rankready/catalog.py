"""Find what a plural folder holds: adding a file is all that registration takes."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

T = TypeVar("T")


def names(folder: str) -> tuple[str, ...]:
    """Return the module names in ``rankready.<folder>``, sorted, without importing any of them."""
    package = importlib.import_module(f"rankready.{folder}")
    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")))


def module(folder: str, name: str) -> ModuleType:
    """Import one file of a plural folder."""
    return importlib.import_module(f"rankready.{folder}.{name}")


def offered(folder: str, attribute: str, kind: type[T]) -> Iterator[T]:
    """Yield what each file of a folder offers under ``attribute``: one ``kind``, or a tuple of them.

    Files that offer nothing under that name are passed over; a file that offers something else is our bug.
    """
    for name in names(folder):
        found = getattr(module(folder, name), attribute, ())
        items = found if isinstance(found, tuple) else (found,)
        for item in items:
            if not isinstance(item, kind):
                message = f"rankready.{folder}.{name}.{attribute} holds {item!r}, not a {kind.__name__}"
                raise TypeError(message)
            yield item
