import { autoencoderDecoder, autoencoderEncoder } from './autoencoder';
import { type DenoisingShape, denoisingUnet } from './denoising-unet';
import { referenceUnet } from './reference-unet';
import { type ListeningUnetShape, unet, unet3d } from './unet';
import { WeightFile } from './weight-file';
import { whisperEncoder } from './whisper-encoder';
import { type Engine } from '@lipsync/contract';
import { WINDOW_STEPS } from '@lipsync/engines';
import { type Graph } from '@lipsync/model-pack';

/** The size of a pack's networks; everything else about them is independent of it. */
export interface NetworkSize {
  /** Side of the generated face in pixels. */
  readonly resolution: number;
  readonly whisper: { readonly width: number; readonly heads: number; readonly blocks: number };
  /** Channels of the levels, outermost first. */
  readonly autoencoder: readonly number[];
  readonly unet: readonly number[];
  readonly heads: number;
}

/** Whisper tiny, sd-vae-ft-mse, and the engines' variants of Stable Diffusion 1.5's UNet. */
const AS_PUBLISHED: NetworkSize = {
  resolution: 256,
  whisper: { width: 384, heads: 6, blocks: 4 },
  autoencoder: [128, 256, 512, 512],
  unet: [320, 640, 1280, 1280],
  heads: 8,
};

export type NetworkSizes = Readonly<Record<Engine, NetworkSize>>;

export const PUBLISHED: NetworkSizes = {
  musetalk: AS_PUBLISHED,
  latentsync: AS_PUBLISHED,
  highsync: { ...AS_PUBLISHED, resolution: 512 },
};

export const LATENT_CHANNELS = 4;

/** A network whose weights have not been generated yet. */
export interface Network {
  readonly graph: Graph;
  readonly weights: WeightFile;
}

/** The networks that all engines have. */
export function commonNetworks(size: NetworkSize) {
  const { resolution, whisper, autoencoder: levels } = size;
  const shape = { levels, latent: LATENT_CHANNELS, resolution };
  return {
    whisper_encoder: network('whisper_encoder', (weights) => whisperEncoder(whisper, weights)),
    vae_encoder: network('vae_encoder', (weights) => autoencoderEncoder(shape, weights)),
    vae_decoder: network('vae_decoder', (weights) => autoencoderDecoder(shape, weights)),
  };
}

/** MuseTalk's generator; its input is the latents of the face without its lower half and of the whole face. */
export function musetalkUnet(size: NetworkSize): Network {
  return network('unet', (weights) => unet(unetShape(size, 2 * LATENT_CHANNELS), weights));
}

/** LatentSync's generator; its input is noise, mask, masked face and whole face. */
export function latentsyncUnet(size: NetworkSize): Network {
  return network('unet3d', (weights) => unet3d(unetShape(size, 3 * LATENT_CHANNELS + 1), weights));
}

/** HighSync's reference network, and the two denoising ones, which share their weights. */
export function highsyncUnets(size: NetworkSize, { window, mask }: Pick<DenoisingShape, 'window' | 'mask'>) {
  const shape = { ...unetShape(size, LATENT_CHANNELS), window, mask };
  const denoising = (banked: boolean): Network =>
    network('denoising_unet', (weights) => denoisingUnet(shape, banked, weights));
  return {
    reference: network('reference_unet', (weights) => referenceUnet(shape, weights)),
    denoising: denoising(true),
    unconditional: denoising(false),
  };
}

export function latentSide({ resolution, autoencoder }: NetworkSize): number {
  return resolution / 2 ** (autoencoder.length - 1);
}

function unetShape(size: NetworkSize, inputs: number): ListeningUnetShape {
  const { whisper, heads } = size;
  return {
    ...{ levels: size.unet, heads, inputs, outputs: LATENT_CHANNELS, side: latentSide(size) },
    heard: { steps: WINDOW_STEPS * (1 + whisper.blocks), width: whisper.width },
  };
}

/** A network with its weights in a file of this name. */
function network(name: string, build: (weights: WeightFile) => Graph): Network {
  const weights = new WeightFile(`${name}.onnx.data`);
  return { graph: build(weights), weights };
}
