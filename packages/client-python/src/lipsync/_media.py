from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from ._contract import Asset, AssetInput, Input, MediaType, UrlInput


class Readable(Protocol):
    """A binary stream."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, kw_only=True)
class StreamSource:
    """Bytes of a known number and type that can be read once."""

    stream: Readable
    size: int
    """Bytes."""
    content_type: str


UploadSource = str | os.PathLike[str] | bytes | BinaryIO | StreamSource
"""What can be uploaded: a path, a binary file that can be read again, bytes in memory, a stream."""

MediaInput = UploadSource | Asset | AssetInput | UrlInput
"""What a render or preparation can be made of: media to upload, an https URL, an asset or its id."""

# Prefix and ULID. A file of such a name is reached as `./ast_…`.
ASSET_ID = re.compile(r"ast_[0-9a-z]{26}")
# Not `c:`, which begins a path of Windows.
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Bytes that are to be sent."""

    open: Callable[[], AbstractContextManager[Readable]]
    size: int
    content_type: str
    is_repeatable: bool = True


def input_or_source(media: MediaInput, media_type: MediaType) -> Input | Source:
    """The input as the contract has it, or the bytes that have to be uploaded first; raises what open_source does."""
    if isinstance(media, Asset):
        return {"asset_id": media.id}
    if isinstance(media, dict):
        return media
    if isinstance(media, str) and ASSET_ID.fullmatch(media):
        return {"asset_id": media}
    # Also http: and others, which the service refuses in its own words.
    if isinstance(media, str) and ADDRESS.match(media):
        return {"url": media}
    return open_source(media, media_type)


def open_source(source: UploadSource, media_type: MediaType, content_type: str | None = None) -> Source:
    """Raises OSError for files that cannot be read, ValueError if nothing tells the content type, TypeError for what is
    none of these."""
    if isinstance(source, StreamSource):
        return Source(
            open=lambda: nullcontext(source.stream),
            size=source.size,
            content_type=content_type or source.content_type,
            is_repeatable=False,
        )
    name = ""
    opened: Callable[[], AbstractContextManager[Readable]]
    if isinstance(source, bytes):
        size, opened = len(source), lambda: io.BytesIO(source)
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
        name, opened = path.name, lambda: path.open("rb")
    else:
        name, size, opened = _again_readable(source)
    return Source(
        open=opened, size=size, content_type=content_type or _content_type(name, opened, media_type)
    )


def _again_readable(file: BinaryIO) -> tuple[str, int, Callable[[], AbstractContextManager[Readable]]]:
    """The name of a file, the number of its bytes from where it stands, and what reads them. The file is left where it
    stood: one film can be both inputs."""
    if isinstance(file, io.TextIOBase) or not callable(getattr(file, "read", None)):
        raise TypeError(f"{type(file).__name__} is no path, no bytes and no file that was opened as binary")
    if not file.seekable():
        raise TypeError("A stream that cannot be read again is passed as a StreamSource, which says its size")
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)

    @contextmanager
    def opened() -> Iterator[Readable]:
        file.seek(start)
        try:
            yield file
        finally:
            file.seek(start)

    name = getattr(file, "name", "")
    return Path(name).name if isinstance(name, str) else "", size, opened


# What uploads may declare.
CONTENT_TYPES: dict[MediaType, tuple[str, ...]] = {
    "video": ("video/mp4", "video/quicktime", "video/webm", "video/x-matroska"),
    "audio": (
        "audio/mpeg",
        "audio/wav",
        "audio/x-wav",
        "audio/wave",
        "audio/mp4",
        "audio/x-m4a",
        "audio/aac",
        "audio/ogg",
        "audio/flac",
        "audio/webm",
    ),
}

# What uploads declare, by the extension of files. The service goes by the bytes alone, so that files whose own type it
# does not list are declared as something else.
CONTENT_TYPE_BY_EXTENSION: dict[MediaType, dict[str, str]] = {
    "video": {
        "mp4": "video/mp4",
        "m4v": "video/mp4",
        "mov": "video/quicktime",
        "webm": "video/webm",
        "mkv": "video/x-matroska",
        "ts": "video/mp4",
        "mts": "video/mp4",
        "m2ts": "video/mp4",
        "m2t": "video/mp4",
    },
    "audio": {
        "mp3": "audio/mpeg",
        "wav": "audio/wav",
        "m4a": "audio/mp4",
        "mp4": "audio/mp4",
        "aac": "audio/aac",
        "ogg": "audio/ogg",
        "oga": "audio/ogg",
        "opus": "audio/ogg",
        "flac": "audio/flac",
        "webm": "audio/webm",
        "mka": "audio/webm",
        "mp2": "audio/mpeg",
        "aiff": "audio/wav",
        "aif": "audio/wav",
        "aifc": "audio/wav",
        "ac3": "audio/mp4",
        "eac3": "audio/mp4",
        "ec3": "audio/mp4",
        "wma": "audio/mp4",
        "mov": "audio/mp4",
        "mkv": "audio/webm",
        "ts": "audio/mp4",
        "mts": "audio/mp4",
        "m2ts": "audio/mp4",
        "m2t": "audio/mp4",
    },
}

# How files begin, and the extension of their kind. MPEG-TS is known by two of its packets.
BEGINNINGS: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), extension)
    for pattern, extension in (
        (rb".{4}ftypqt  ", "mov"),
        (rb".{4}ftyp", "mp4"),
        (rb"\x1a\x45\xdf\xa3", "webm"),
        (rb"RIFF.{4}WAVE", "wav"),
        (rb"fLaC", "flac"),
        (rb"OggS", "ogg"),
        (rb"FORM.{4}AIF[FC]", "aiff"),
        (rb"\x0b\x77", "ac3"),
        (rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "wma"),
        (rb"\x47.{187}\x47", "ts"),
        (rb".{4}\x47.{191}\x47", "mts"),
        (rb"\xff[\xf0\xf1\xf8\xf9]", "aac"),
        (rb"ID3|\xff[\xe0-\xff]", "mp3"),
    )
)
BEGINNING_BYTES = 200


def _content_type(
    name: str, opened: Callable[[], AbstractContextManager[Readable]], media_type: MediaType
) -> str:
    """By the name, else by the first bytes. The sound of a film may be uploaded as audio."""
    types = CONTENT_TYPE_BY_EXTENSION[media_type]
    by_name = types.get(Path(name).suffix[1:].lower())
    if by_name is not None:
        return by_name
    with opened() as stream:
        beginning = stream.read(BEGINNING_BYTES)
    kind = next((extension for pattern, extension in BEGINNINGS if pattern.match(beginning)), "")
    if kind in types:
        return types[kind]
    raise ValueError(
        f"{name or 'The source'} is no {media_type} by its name or first bytes: "
        f"pass content_type, or one of {', '.join(types)}"
    )
