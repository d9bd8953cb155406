"""
Refuses checkpoints that are not what an exporter needs, before upstream's loaders run: some of them ignore tensors
that are unknown or of another shape, and leave random weights in the place of those that are missing.
"""

from pathlib import Path
from typing import Iterable, List, Mapping, Optional

import torch

from .checkpoint_file import Tensor, UnreadableCheckpoint, read_checkpoint
from .checkpoint_loading import load_checkpoint
from .checkpoint_manifest import Manifest, read_manifests

#: Names of each kind of difference in a message.
SHOWN = 3
#: Upstream's loaders convert among these: OpenAI publishes Whisper in half precision, and everybody loads it in single.
FLOATS = dict.fromkeys(["float64", "float32", "float16", "bfloat16"], "float")
#: Share of equal tensors from which a file is said to resemble something.
RESEMBLES = 0.25
#: What from_pretrained of diffusers and of transformers looks for, in this order.
PRETRAINED = (
    "diffusion_pytorch_model.safetensors",
    "diffusion_pytorch_model.bin",
    "model.safetensors",
    "pytorch_model.bin",
)


def pretrained_file(folder: Path) -> Path:
    """The file in `folder` that from_pretrained will load."""
    return next((folder / name for name in PRETRAINED if (folder / name).exists()), folder / PRETRAINED[0])


def refuse_wrong_checkpoints(files: Mapping[Path, Manifest]) -> None:
    """Ends the program with one message about all files that are not what their manifest says."""
    _end_on(complaint_about(path, expected) for path, expected in files.items())


def refuse_other_network(network: torch.nn.Module, expected: Manifest) -> None:
    """Ends the program if a configuration made another network: a lenient loader would leave parts of it random."""
    differences = differences_of(tensors_of(network), expected)
    _end_on(["\n".join([f"The configuration does not make {expected.title}:", *differences])] if differences else [])


def _end_on(complaints: Iterable[Optional[str]]) -> None:
    found = list(filter(None, complaints))
    if found:
        raise SystemExit("\n".join([*found, "Nothing was exported."]))


def tensors_of(network: torch.nn.Module) -> Mapping[str, Tensor]:
    """As a manifest has them."""
    return {
        key: Tensor(_kind(str(tensor.dtype).replace("torch.", "")), tuple(tensor.shape))
        for key, tensor in network.state_dict().items()
    }


def complaint_about(path: Path, expected: Manifest) -> Optional[str]:
    """Why this file is not the checkpoint that is expected; None if it is."""
    try:
        content = read_checkpoint(path)
        tensors = content.get(expected.under) if expected.under else content
        if isinstance(tensors, dict):
            differences = differences_of(tensors, expected)
        else:
            found = _some(list(content))
            differences = [f'  upstream reads its tensors from the entry "{expected.under}"; here are {found}']
        if differences:
            return "\n".join([f"{path} is not {expected.title}:", *differences, *resemblance(content, expected)])
        damaged = without_numbers(path, expected)
    except UnreadableCheckpoint as error:
        return f"{path} {error}. Expected: {expected.title}."
    if damaged:
        return f"{path} has weights that are no numbers:\n  {len(damaged)} with NaN or infinity: {_some(damaged)}"
    return None


def without_numbers(path: Path, expected: Manifest) -> List[str]:
    """The tensors that hold NaN or infinity, with which a network answers nothing else."""
    content = load_checkpoint(path)
    tensors = content[expected.under] if expected.under else content
    return [key for key, tensor in tensors.items() if tensor.is_floating_point() and not _is_finite(tensor)]


def _is_finite(tensor: torch.Tensor) -> bool:
    # Numbers that a tensor only repeats need to be looked at once.
    numbers = tensor[tuple(slice(1) if stride == 0 else slice(None) for stride in tensor.stride())]
    return bool(torch.isfinite(numbers).all())


def differences_of(found: Mapping[str, object], expected: Manifest) -> List[str]:
    """A line for each kind of difference, with the first tensors that differ so."""
    found = _renamed(found, expected)
    missing, shapes, types = [], [], []
    for key, tensor in expected.tensors.items():
        value = found.get(key)
        if value is None:
            missing += [] if key in expected.optional else [key]
        elif not isinstance(value, Tensor):
            types.append(f"{key} is a {type(value).__name__}, not a tensor")
        elif value.shape != tensor.shape:
            shapes.append(f"{key} is {list(value.shape)}, not {list(tensor.shape)}")
        elif _kind(value.type) != tensor.type:
            types.append(f"{key} is {value.type}, not {tensor.type}")
    kinds = {
        f"of {len(expected.tensors)} tensors missing": missing,
        "unexpected": [key for key in found if key not in expected.tensors],
        "of another shape": shapes,
        "of another type": types,
    }
    return [f"  {len(entries)} {kind}: {_some(entries)}" for kind, entries in kinds.items() if entries]


def _renamed(found: Mapping[str, object], expected: Manifest) -> Mapping[str, object]:
    def new(key: str) -> str:
        for old, newer in expected.renamed.items():
            key = key.replace(old, newer)
        return key

    return {new(str(key)): value for key, value in found.items()}


def _kind(name: str) -> str:
    return FLOATS.get(name, name)


def _some(entries: list) -> str:
    return ", ".join(map(str, entries[:SHOWN])) + (", …" if len(entries) > SHOWN else "")


def resemblance(content: dict, expected: Manifest) -> List[str]:
    """What the file seems to be instead, by the manifest that fits it best."""
    views = {None: content, **{key: value for key, value in content.items() if isinstance(value, dict)}}
    known = read_manifests(expected.path.parent).values()
    share, best, under = max(
        ((_share(view, candidate), candidate, under) for candidate in known for under, view in views.items()),
        key=lambda guess: guess[0],
    )
    place = f' under "{under}"' if under else ""
    if share == 1:
        return [f"  It holds{place} exactly the tensors of {best.title}."]
    if share < RESEMBLES:
        return ["  It resembles nothing that is known here."]
    if best.title != expected.title:
        return [f"  It is closest to {best.title}: {share:.0%} of the tensors{place} are the same."]
    return [f"  If it is the published file, {expected.path} is wrong."]


def _share(found: Mapping[str, object], candidate: Manifest) -> float:
    """The share of equal tensors among all that either has."""
    found = {
        key: Tensor(_kind(value.type), value.shape)
        for key, value in _renamed(found, candidate).items()
        if isinstance(value, Tensor)
    }
    equal = sum(found.get(key) == tensor for key, tensor in candidate.tensors.items())
    return equal / len({*found, *candidate.tensors} - (candidate.optional - found.keys()))
