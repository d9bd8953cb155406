"""
The tensors that a published checkpoint must hold: a text file with a line per tensor, made from upstream's code by
checkpoint_manifests.py. Lines that differ in one number are one line: `blocks.{0,1}.norm.bias float [320]`. A float
may have any precision.
"""

import itertools
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, Mapping, Optional, Tuple

from .checkpoint_file import Tensor

#: Those of the published files.
PUBLISHED = Path(__file__).resolve().parent.parent / "checkpoints"
LINE = re.compile(r"(?P<keys>\S+) (?P<type>\w+) (?P<shape>\[.*\])(?P<optional> optional)?")


@dataclass(frozen=True)
class Manifest:
    #: What the file is: "the UNet of MuseTalk 1.5".
    title: str
    tensors: Mapping[str, Tensor]
    #: Tensors that the file may lack, because upstream's loader does.
    optional: frozenset = frozenset()
    #: The entry of the file that upstream's loader takes; the whole file if there is none.
    under: Optional[str] = None
    #: Parts of older names, and what upstream's loader replaces them with.
    renamed: Mapping[str, str] = field(default_factory=dict)
    path: Optional[Path] = None

    @staticmethod
    def read(path: Path) -> "Manifest":
        title, *lines = path.read_text().splitlines()
        tensors, optional, renamed, under = {}, set(), {}, None
        for line in lines:
            word, *rest = line.split()
            if word == "under":
                (under,) = rest
            elif word == "renamed":
                old, new = rest
                renamed[old] = new
            elif word != "#":
                entry = LINE.fullmatch(line)
                keys = list(expand(entry["keys"]))
                tensors.update(dict.fromkeys(keys, Tensor(entry["type"], tuple(json.loads(entry["shape"])))))
                optional.update(keys if entry["optional"] else ())
        return Manifest(title.lstrip("# "), tensors, frozenset(optional), under, renamed, path)

    def write(self, path: Path, comment: Iterable[str] = ()) -> None:
        lines = [f"# {line}" for line in (self.title, *comment)]
        lines += [f"under {self.under}"] if self.under else []
        lines += [f"renamed {old} {new}" for old, new in self.renamed.items()]
        marked = {key: f"{tensor}{' optional' if key in self.optional else ''}" for key, tensor in self.tensors.items()}
        lines += [f"{keys} {rest}" for keys, rest in sorted(compress(marked))]
        path.write_text("\n".join(lines) + "\n")


def read_manifests(folder: Path = PUBLISHED) -> Dict[str, Manifest]:
    return {path.stem: Manifest.read(path) for path in sorted(folder.glob("*.txt"))}


def compress(entries: Mapping[str, str]) -> Iterable[Tuple[str, str]]:
    """Joins keys that differ in one number and agree in everything else, until none do."""
    rows: Dict[tuple, str] = {tuple(key.split(".")): value for key, value in entries.items()}
    # The last numbers first, so that layers of one block join before blocks do.
    for at in reversed(range(max(map(len, rows), default=0))):
        groups: Dict[tuple, list] = {}
        for parts, value in rows.items():
            number = at < len(parts) and parts[at].isdigit()
            kind = (*parts[:at], None, *parts[at + 1 :]) if number else parts
            groups.setdefault((kind, value), []).append(parts)
        rows = {_joined(members, at): value for (_, value), members in groups.items()}
    return [(".".join(parts), value) for parts, value in rows.items()]


def _joined(members: list, at: int) -> tuple:
    first, *others = members
    if not others:
        return first
    numbers = sorted((parts[at] for parts in members), key=int)
    return (*first[:at], "{" + ",".join(numbers) + "}", *first[at + 1 :])


def expand(keys: str) -> Iterable[str]:
    """`a.{0,1}.b` → `a.0.b`, `a.1.b`"""
    alternatives = [part.strip("{}").split(",") for part in keys.split(".")]
    return (".".join(parts) for parts in itertools.product(*alternatives))
