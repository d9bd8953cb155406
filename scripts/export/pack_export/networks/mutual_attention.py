"""
HighSync's two UNets as graphs. The denoising UNet attends to the reference UNet's self-attention inputs ("banks", after
norm1) as well as to its own tokens. Upstream passes them on with hooks and lists. Here they are outputs of one graph and
inputs of another, or both UNets are one graph that takes the reference's latents.
"""

from typing import List, Type

import torch

from ..export_role import Role
from ..probe import ProbeInput
from ..tensor_spec import TensorSpec
from .unet import WINDOW_STEPS

#: Gain on a block's audio attention relative to training (upstream's audio_feature_ratio).
AUDIO_GAIN = 3.0


def attention_blocks(unet: torch.nn.Module, kind: Type[torch.nn.Module]) -> List[torch.nn.Module]:
    """The transformer blocks in the order that pairs the two networks': widest first, otherwise as they are defined."""
    blocks = [module for module in unet.modules() if isinstance(module, kind)]
    return sorted(blocks, key=lambda block: -block.norm1.normalized_shape[0])


class ReferenceBanks(torch.nn.Module):
    """
    Latents of frames → the input of each transformer block's self-attention, at timestep 0 and without a condition.
    """

    def __init__(self, unet: torch.nn.Module, blocks: List[torch.nn.Module]):
        super().__init__()
        self.unet = unet
        self._norms = [block.norm1 for block in blocks]

    def forward(self, latent):
        banks = {}
        hooks = [
            norm.register_forward_hook(lambda _, __, output, i=i: banks.__setitem__(i, output))
            for i, norm in enumerate(self._norms)
        ]
        try:
            self.unet(latent, torch.zeros(1, dtype=torch.int64, device=latent.device), encoder_hidden_states=None)
        finally:
            for hook in hooks:
                hook.remove()
        return tuple(banks[i] for i in range(len(self._norms)))


class _BankedBlock:
    """A transformer block's computation: self-attention that includes the bank, audio attention, feed-forward."""

    def __init__(self, block: torch.nn.Module):
        self._block = block
        self.bank = None

    def __call__(self, hidden_states, audio_cond_fea=None, **_):
        block = self._block
        normed = block.norm1(hidden_states)
        seen = normed if self.bank is None else torch.cat([normed, self.bank], dim=1)
        hidden_states = hidden_states + block.attn1(normed, encoder_hidden_states=seen)
        heard = block.attn2(block.norm2(hidden_states), encoder_hidden_states=audio_cond_fea)
        hidden_states = hidden_states + AUDIO_GAIN * heard
        return hidden_states + block.ff(block.norm3(hidden_states))


class BankedDenoiser(torch.nn.Module):
    """Denoising with banks as additional inputs; without any it is the unconditional network."""

    def __init__(self, unet: torch.nn.Module, blocks: List[torch.nn.Module]):
        super().__init__()
        self.unet = unet
        self._blocks = [_BankedBlock(block) for block in blocks]
        for block, banked in zip(blocks, self._blocks):
            block.forward = banked

    def forward(self, latent, timestep, audio, *banks):
        for i, block in enumerate(self._blocks):
            block.bank = banks[i] if banks else None
        return self.unet(latent, timestep, None, audio_cond_fea=audio, return_dict=False)[0]


class ReferencedDenoiser(torch.nn.Module):
    """Denoising with the latents of the reference frames as an additional input."""

    def __init__(self, reference: ReferenceBanks, denoiser: BankedDenoiser):
        super().__init__()
        self.reference, self.denoiser = reference, denoiser

    def forward(self, latent, timestep, audio, reference):
        return self.denoiser(latent, timestep, audio, *self.reference(reference))


def upstream_blocks() -> tuple:
    """Upstream's classes of the reference network's transformer blocks and of the denoising network's."""
    from src.models.attention import BasicTransformerBlock, TemporalBasicTransformerBlock

    return BasicTransformerBlock, TemporalBasicTransformerBlock


def with_banks(reference_unet: torch.nn.Module, denoising_unet: torch.nn.Module, kinds: tuple) -> tuple:
    """The UNets with banks as outputs and inputs; `kinds` are the classes of their transformer blocks."""
    reference_kind, denoising_kind = kinds
    reference = ReferenceBanks(reference_unet, attention_blocks(reference_unet, reference_kind))
    denoiser = BankedDenoiser(denoising_unet, attention_blocks(denoising_unet, denoising_kind))
    return reference.eval(), denoiser.eval()


def highsync_unet_roles(
    reference: torch.nn.Module,
    denoiser: torch.nn.Module,
    latent: dict,
    audio: dict,
    window: int,
    one_graph: bool,
) -> List[Role]:
    """
    `reference`: latent → banks; `denoiser`: latent, timestep, audio, banks (all or none) → prediction. With `one_graph`
    the conditional denoiser includes the reference network.
    """
    plane = [latent["channels"], latent["height"], latent["width"]]
    sequence = [1, plane[0], window, *plane[1:]]
    inputs = [
        TensorSpec("latent", sequence),
        TensorSpec("timestep", [1], dtype="int64"),
        TensorSpec("audio", [1, window, WINDOW_STEPS * audio["states"], audio["width"]]),
    ]
    fill = {"latent": "wave", "timestep": 949, "audio": "wave"}

    def denoising(name: str, module: torch.nn.Module, *more: TensorSpec) -> Role:
        return Role(
            name=name,
            module=module,
            inputs=[*inputs, *more],
            outputs=[TensorSpec("prediction", sequence)],
            probe=ProbeInput(fill={**fill, **{spec.key: "wave" for spec in more}}),
            data_group="denoising_unet",
            attention=True,
        )

    unconditional = denoising("denoising_unet_unconditional", denoiser)
    if one_graph:
        latents = TensorSpec("reference", [window, *plane])
        return [denoising("denoising_unet", ReferencedDenoiser(reference, denoiser), latents), unconditional]
    with torch.no_grad():
        shapes = [bank.shape[1:] for bank in reference(torch.zeros(1, *plane))]
    names = [f"bank_{i}" for i in range(len(shapes))]
    return [
        Role(
            name="reference_unet",
            module=reference,
            inputs=[TensorSpec("latent", ["frames", *plane])],
            outputs=[TensorSpec(name, ["frames", *shape]) for name, shape in zip(names, shapes)],
            probe=ProbeInput(dims={"frames": 2}, fill={"latent": "wave"}),
            attention=True,
        ),
        denoising("denoising_unet", denoiser, *(TensorSpec(name, [window, *shape]) for name, shape in zip(names, shapes))),
        unconditional,
    ]
