"""
Weights of LatentSync's UNet that somebody distilled to a few steps, in the forms in which they are found: as upstream
writes its own, with the same names outside of an entry, or as latentsync-mlx (github.com/sb1992/latentsync-mlx) converts
them for Apple's MLX, in which the published ones are.
"""

from dataclasses import replace
from pathlib import Path
from typing import Dict, List, Mapping, Tuple

import torch

from .checkpoint_check import refuse_wrong_checkpoints
from .checkpoint_file import Tensor, UnreadableCheckpoint, read_checkpoint
from .checkpoint_loading import load_checkpoint
from .checkpoint_manifest import Manifest

#: Parts of upstream's names, and what they are in MLX.
MLX_NAMES = {
    "time_embedding.linear_1.": "time_embedding.layers.0.",
    "time_embedding.linear_2.": "time_embedding.layers.2.",
    ".downsamplers.0.": ".downsample.",
    ".upsamplers.0.": ".upsample.",
    "mid_block.resnets.0.": "mid_block.resnet_0.",
    "mid_block.resnets.1.": "mid_block.resnet_1.",
    "mid_block.attentions.0.": "mid_block.attention.",
    ".to_out.0.": ".to_out.",
    ".ff.net.2.": ".ff.linear3.",
}
#: The gated layer, whose value and gate are two layers there.
GATED, VALUE_AND_GATE = ".ff.net.0.proj.", (".ff.linear1.", ".ff.linear2.")


def load_distilled(path: Path, expected: Manifest) -> Mapping[str, torch.Tensor]:
    """The tensors by upstream's names. Ends the program if they are not those of `expected`, the manifest of its UNet."""
    in_mlx = mlx_form(expected)
    form = closest(path, [expected, replace(expected, under=None), in_mlx])
    refuse_wrong_checkpoints({path: form})
    content = load_checkpoint(path)
    tensors = content[form.under] if form.under else content
    return from_mlx(tensors, expected) if form is in_mlx else tensors


def closest(path: Path, forms: List[Manifest]) -> Manifest:
    """The form with most of the file's names; the first one if none has any."""
    try:
        content = read_checkpoint(path)
    except UnreadableCheckpoint:
        return forms[0]

    def names_of(form: Manifest):
        return content.get(form.under, {}) if form.under else content

    return max(forms, key=lambda form: len(form.tensors.keys() & set(names_of(form))))


def mlx_form(expected: Manifest) -> Manifest:
    tensors, optional = {}, set()
    for key, tensor in expected.tensors.items():
        parts = {name: Tensor(tensor.type, shape) for name, shape in mlx_parts(key, tensor.shape)}
        tensors.update(parts)
        optional.update(parts if key in expected.optional else ())
    title = f"{expected.title}, converted for MLX"
    return replace(expected, title=title, tensors=tensors, optional=frozenset(optional), under=None)


def mlx_parts(key: str, shape: Tuple[int, ...]) -> List[Tuple[str, Tuple[int, ...]]]:
    """Names and shapes that a tensor has in MLX. Channels come last there, and convolutions of one pixel are matrices."""
    for name, other in MLX_NAMES.items():
        key = key.replace(name, other)
    if GATED in key:
        return [(key.replace(GATED, name), (shape[0] // 2, *shape[1:])) for name in VALUE_AND_GATE]
    if len(shape) != 4:
        return [(key, shape)]
    outputs, inputs, *kernel = shape
    return [(key, (outputs, inputs) if kernel == [1, 1] else (outputs, *kernel, inputs))]


def from_mlx(tensors: Mapping[str, torch.Tensor], expected: Manifest) -> Dict[str, torch.Tensor]:
    state = {}
    for key, (_, shape) in expected.tensors.items():
        parts = [tensors[name] for name, _ in mlx_parts(key, shape) if name in tensors]
        if parts:
            tensor = torch.cat(parts) if GATED in key else parts[0]
            state[key] = tensor.permute(0, 3, 1, 2) if tensor.ndim == 4 else tensor.reshape(shape)
    return state
