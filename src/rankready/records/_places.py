"""A place as one text that reads back as the same place."""

from __future__ import annotations

from urllib.parse import quote, unquote

from rankready.model.place import Place, PlaceKind, device_place, file_place, parse_place, port_place


def write_place(place: Place) -> str:
    """Write the place as users type it; where that would read back as another, with its kind before it."""
    text = str(place)
    if ":" not in text and _reads_as(text) == place:
        return text
    name = quote(place.name, safe="", errors="surrogatepass")
    match place.kind:
        case PlaceKind.DEVICE | PlaceKind.FILE:
            return f"{place.kind}:{name}/{place.device}"
        case PlaceKind.PORT:
            return f"{place.kind}:{name}/{quote(place.port, safe='/', errors='surrogatepass')}"
        case _:
            return f"{place.kind}:{name}"


def read_place(text: str) -> Place:
    """Read what ``write_place`` wrote; raises ValueError on anything else."""
    if ":" not in text:
        return parse_place(text)
    kind, _, rest = text.partition(":")
    name, _, tail = rest.partition("/")
    name = unquote(name, errors="surrogatepass")
    match PlaceKind(kind):
        case PlaceKind.DEVICE:
            return device_place(name, int(tail))
        case PlaceKind.FILE:
            return file_place(name, int(tail))
        case PlaceKind.PORT:
            return port_place(name, unquote(tail, errors="surrogatepass"))
        case other:
            return Place(other, name)


def _reads_as(text: str) -> Place | None:
    try:
        return parse_place(text)
    except ValueError:
        return None
