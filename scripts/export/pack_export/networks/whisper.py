"""Whisper's encoder with all its hidden states: [1, 80, 3000] → [1, 1500, states, width]."""

import torch

from ..export_role import Role
from ..probe import ProbeInput
from ..tensor_spec import TensorSpec

MEL_BANDS = 80
#: Frames in thirty seconds; the encoder makes half as many steps.
MEL_FRAMES = 3000


class HuggingFaceStates(torch.nn.Module):
    """Embedding, then every block's output, the last one after the final LayerNorm (transformers' WhisperEncoder)."""

    def __init__(self, encoder: torch.nn.Module):
        super().__init__()
        self.encoder = encoder

    def forward(self, mel):
        return torch.stack(self.encoder(mel, output_hidden_states=True).hidden_states, dim=2)


class OpenaiStates(torch.nn.Module):
    """Embedding, then every block's output, all before the final LayerNorm (OpenAI's AudioEncoder)."""

    def __init__(self, encoder: torch.nn.Module):
        super().__init__()
        self.encoder = encoder

    def forward(self, mel):
        gelu = torch.nn.functional.gelu
        embedded = gelu(self.encoder.conv2(gelu(self.encoder.conv1(mel))))
        states = [embedded.transpose(1, 2) + self.encoder.positional_embedding]
        for block in self.encoder.blocks:
            states.append(block(states[-1]))
        return torch.stack(states, dim=2)


def whisper_role(module: torch.nn.Module, states: int, width: int) -> Role:
    return Role(
        name="whisper_encoder",
        module=module,
        inputs=[TensorSpec("mel", [1, MEL_BANDS, MEL_FRAMES], range=(-1.5, 1.5))],
        outputs=[TensorSpec("states", [1, MEL_FRAMES // 2, states, width])],
        probe=ProbeInput(fill={"mel": "wave"}),
    )


def audio_params(variant: str, states: int, width: int) -> dict:
    return {"whisper": variant, "states": states, "width": width}
