"""Tensors at a graph's boundary."""

from dataclasses import dataclass
from typing import Optional, Sequence, Tuple, Union

Dim = Union[int, str]


@dataclass(frozen=True)
class TensorSpec:
    """One tensor by the name that the engine's code uses; a string is a dimension that the caller chooses."""

    key: str
    dims: Sequence[Dim]
    dtype: str = "float32"
    range: Optional[Tuple[float, float]] = None
    #: The graph's name for it; an input and an output of one graph must not share a name.
    name: Optional[str] = None

    @property
    def graph_name(self) -> str:
        return self.name or self.key

    @property
    def free_dims(self) -> dict:
        """Axis → name of the free dimensions."""
        return {axis: dim for axis, dim in enumerate(self.dims) if isinstance(dim, str)}

    def shape(self, sizes: dict) -> tuple:
        return tuple(sizes[dim] if isinstance(dim, str) else dim for dim in self.dims)

    def to_manifest(self) -> dict:
        entry = {"name": self.graph_name, "dtype": self.dtype, "dims": list(self.dims)}
        if self.range is not None:
            entry["range"] = list(self.range)
        return entry
