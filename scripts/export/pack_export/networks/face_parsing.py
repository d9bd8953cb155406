"""BiSeNet at its fixed 512 × 512: [batch, 3, 512, 512] in ImageNet's normalization → the likeliest class of each pixel."""

import importlib
from contextlib import contextmanager
from types import ModuleType

import torch

from ..export_role import Role
from ..probe import ProbeInput
from ..tensor_spec import TensorSpec

SIDE = 512


class _FixedSizes:
    """
    Replaces torch.nn.functional in the network's module, with sizes that are numbers rather than values of the graph.
    """

    def __init__(self, functional: ModuleType):
        self._functional = functional

    def __getattr__(self, name: str):
        return getattr(self._functional, name)

    def avg_pool2d(self, features, kernel):
        # The network only pools whole maps.
        assert [int(side) for side in kernel] == [int(side) for side in features.shape[2:]]
        return features.mean((2, 3), keepdim=True)

    def interpolate(self, features, size, **options):
        return self._functional.interpolate(features, [int(side) for side in size], **options)


@contextmanager
def fixed_sizes(module: ModuleType):
    """Inside this context, the functions of this module trace to a graph with constant sizes."""
    functional = module.F
    module.F = _FixedSizes(functional)
    try:
        yield
    finally:
        module.F = functional


class Parser(torch.nn.Module):
    """
    The likeliest class by the first of the network's three outputs; the others are for training. The scores of all
    classes would be 76 times as many bytes to carry off the device.
    """

    def __init__(self, net: torch.nn.Module):
        super().__init__()
        self.net = net
        self._home = importlib.import_module(type(net).__module__)

    def forward(self, image):
        with fixed_sizes(self._home):
            return self.net(image)[0].argmax(1).to(torch.uint8)


def face_parsing_role(net: torch.nn.Module) -> Role:
    return Role(
        name="face_parsing",
        module=Parser(net),
        inputs=[TensorSpec("image", ["batch", 3, SIDE, SIDE])],
        outputs=[TensorSpec("classes", ["batch", SIDE, SIDE], "uint8")],
        probe=ProbeInput(dims={"batch": 2}, fill={"image": "wave"}),
    )
