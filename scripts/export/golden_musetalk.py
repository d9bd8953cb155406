"""
Golden numbers for the musetalk engine: a pack of random networks, and the pictures that MuseTalk's own code makes with
them (audio windows, positional encoding, masked latents, decoding; noise of the autoencoder off).

    python scripts/export/golden_musetalk.py --upstream MuseTalk --out DIR [--networks reduced]
"""

import sys

import numpy as np
import torch
from golden import networks as golden_networks
from golden import packs
from golden.arguments import arguments_of, finish, made_by
from golden.golden_file import write_golden
from golden.inputs import SAMPLE_RATE, picture, sound
from golden.upstream import mode_instead_of_samples
from pack_export.command_line import use_upstream

FRAMES = 20
SECONDS = 0.81


def upstream_windows(networks, waveform: np.ndarray) -> torch.Tensor:
    """[frames, tokens, width] as upstream's AudioProcessor makes them."""
    from musetalk.utils import audio_processor
    from transformers import WhisperFeatureExtractor

    audio_processor.librosa.load = lambda _, sr: (waveform, sr)
    processor = audio_processor.AudioProcessor.__new__(audio_processor.AudioProcessor)
    processor.feature_extractor = WhisperFeatureExtractor()
    features, length = processor.get_audio_feature(__file__)
    assert length == len(waveform)
    whisper = type("Whisper", (), {"encoder": networks.whisper})
    return processor.get_whisper_chunk(features, "cpu", torch.float32, whisper, length, fps=25)


def upstream_pictures(networks, windows: torch.Tensor) -> np.ndarray:
    """The output of upstream's VAE wrapper, UNet and batching for the pictures, [frames, 3, side, side] in [-1, 1]."""
    from musetalk.models.unet import PositionalEncoding
    from musetalk.models.vae import VAE
    from musetalk.utils.utils import datagen
    from torchvision import transforms

    vae = VAE.__new__(VAE)
    vae.vae, vae.scaling_factor, vae._resized_img = networks.vae, networks.vae.config.scaling_factor, networks.side
    vae.transform = transforms.Normalize(mean=[0.5] * 3, std=[0.5] * 3)
    vae._mask_tensor = vae.get_mask_tensor()
    decoded = []
    decode = networks.vae.decode
    networks.vae.decode = lambda latent: decoded.append(decode(latent)) or decoded[-1]

    latents = [vae.get_latents_for_unet(picture(frame, networks.side)[..., ::-1]) for frame in range(len(windows))]
    encoding = PositionalEncoding(d_model=networks.width)
    for audio, latent in datagen(list(windows), latents, batch_size=8, device="cpu"):
        predicted = networks.unet(latent, torch.tensor([0]), encoder_hidden_states=encoding(audio)).sample
        vae.decode_latents(predicted)
    networks.vae.decode = decode
    return torch.cat([answer.sample for answer in decoded]).numpy()


@torch.no_grad()
def main() -> None:
    given = arguments_of(__doc__)
    use_upstream(given.upstream)
    networks = golden_networks.small("musetalk") if given.networks == "small" else golden_networks.reduced_musetalk()
    mode_instead_of_samples()
    windows = upstream_windows(networks, sound(SECONDS))[:FRAMES]
    pictures = upstream_pictures(networks, windows)
    packs.write_musetalk(given.out / "pack", packs.label("musetalk", given.networks), networks, packs.musetalk_settings(networks))
    inputs = {"seconds": SECONDS, "sampleRate": SAMPLE_RATE}
    write_golden(given.out / "golden.json", made_by(given), inputs, pictures)
    finish(given)


if __name__ == "__main__":
    sys.exit(main())
