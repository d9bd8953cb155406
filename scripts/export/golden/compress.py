"""Packs of reduced networks as they are kept: every graph and its weights compressed, the same on every call."""

import gzip
from pathlib import Path


def compress_pack(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        if file.suffix in (".onnx", ".data"):
            Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes(), 6, mtime=0))
            file.unlink()
