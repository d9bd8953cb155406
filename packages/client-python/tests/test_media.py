from __future__ import annotations

import io
import os
import unittest
from pathlib import Path
from typing import Any

from lipsync import CONTENT_TYPE_BY_EXTENSION, CONTENT_TYPES, MediaType
from lipsync._contract import Asset
from lipsync._media import MediaInput, Source, input_or_source, open_source
from lipsync._parse import parse
from scripted_server import asset

ULID = "ast_01k3v9m5e8q4x7r2t6w0y1z3ab"
MADE = parse(Asset, asset(ULID))


def packets(offset: int, size: int) -> bytes:
    return bytes(0x47 if (i - offset) % size == 0 else 0 for i in range(400))


class Inputs(unittest.TestCase):
    def test_are_told_apart(self) -> None:
        known: list[tuple[MediaInput, object]] = [
            (ULID, {"asset_id": ULID}),
            (MADE, {"asset_id": ULID}),
            ({"asset_id": "anything"}, {"asset_id": "anything"}),
            ("https://media.example.com/a", {"url": "https://media.example.com/a"}),
            # The service will refuse it.
            ("http://media.example.com/a", {"url": "http://media.example.com/a"}),
        ]
        for given, expected in known:
            self.assertEqual(input_or_source(given, "video"), expected)
        self.assertIsInstance(input_or_source(b"OggS", "audio"), Source)
        for path in ("face.mp4", "C:\\media\\face.mp4", f"./{ULID}", Path(ULID)):
            with self.subTest(path), self.assertRaises(FileNotFoundError):
                input_or_source(path, "video")

    def test_of_one_open_file_are_the_same_bytes(self) -> None:
        film = io.BytesIO(b"....\0\0\0\x20ftypisom" + bytes(500))
        film.seek(4)
        for source in (open_source(film, "video"), open_source(film, "audio")):
            with source.open() as stream:
                self.assertEqual(len(stream.read(1000)), source.size)

    def test_that_cannot_be_read_say_what_can(self) -> None:
        reading, writing = os.pipe()
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe, self.assertRaisesRegex(TypeError, "StreamSource"):
            open_source(pipe, "video")
        wrong: list[Any] = [io.StringIO("text"), 4, None]
        for source in wrong:
            with self.subTest(source), self.assertRaisesRegex(TypeError, "no path"):
                open_source(source, "video")


class ContentTypes(unittest.TestCase):
    def declared(self, beginning: bytes, media_type: MediaType, name: str = "") -> str:
        file: Any = io.BytesIO(beginning)
        file.name = name
        return open_source(file, media_type).content_type

    def test_of_a_video_are_found_by_the_name_or_the_first_bytes(self) -> None:
        for beginning, name, expected in (
            (b"", "Clip.MOV", "video/quicktime"),
            (b"", "a.MTS", "video/mp4"),
            (b"\0\0\0\x20ftypqt  ", "", "video/quicktime"),
            (b"\0\0\0\x20ftypisom", "clip.unknown", "video/mp4"),
            (packets(0, 188), "", "video/mp4"),
            (packets(4, 192), "", "video/mp4"),
            (b"\x1a\x45\xdf\xa3", "", "video/webm"),
        ):
            self.assertEqual(self.declared(beginning, "video", name), expected)

    def test_of_a_voice_are_found_as_well_also_for_the_sound_of_a_film(self) -> None:
        for beginning, name, expected in (
            (b"", "film.mp4", "audio/mp4"),
            (b"", "voice.wma", "audio/mp4"),
            (b"ID3\x04", "", "audio/mpeg"),
            (b"\xff\xfb\x90", "", "audio/mpeg"),
            (b"\xff\xf1\x50", "", "audio/aac"),
            (b"FORM....AIFCFVER", "", "audio/wav"),
            (b"\x0b\x77\x12", "", "audio/mp4"),
            (b"RIFF....WAVEfmt ", "", "audio/wav"),
            (b"fLaC", "", "audio/flac"),
            (b"OggS", "", "audio/ogg"),
        ):
            self.assertEqual(self.declared(beginning, "audio", name), expected)

    def test_have_to_be_named_where_nothing_tells_them(self) -> None:
        with self.assertRaisesRegex(ValueError, "notes.txt is no video .* pass content_type, or one of mp4"):
            self.declared(b"hello", "video", "notes.txt")
        self.assertEqual(open_source(b"hello", "video", "video/webm").content_type, "video/webm")

    def test_are_some_that_uploads_may_declare(self) -> None:
        for media_type, by_extension in CONTENT_TYPE_BY_EXTENSION.items():
            self.assertLessEqual(set(by_extension.values()), set(CONTENT_TYPES[media_type]))
