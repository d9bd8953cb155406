import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  encodeModel,
  type LatentsyncManifest,
  type LatentsyncParams,
  type Manifest,
  MANIFEST_FILE,
  modelFile,
  type MusetalkManifest,
  openPackFor,
  type Pack,
  sha256OfFile,
  type ValueInfo,
} from '@lipsync/model-pack';
import {
  commonNetworks,
  LATENT_CHANNELS,
  latentSide,
  latentsyncUnet,
  musetalkUnet,
  type Network,
  type NetworkSize,
} from './networks';

/** What the packs say of themselves, their names aside. */
const LABEL: Pick<Manifest, 'format' | 'version' | 'licence' | 'providers'> = {
  format: 1,
  version: '1.0.0',
  licence: { spdx: 'MIT', source: 'Random weights, for measuring speed and memory.' },
  providers: ['cuda', 'webgpu', 'cpu'],
};

/** Writes a musetalk pack whose networks have learned nothing: as costly as the published one, and of no other use. */
export async function writeUntrainedMusetalk(
  dir: string,
  size: NetworkSize,
): Promise<Pack<MusetalkManifest>> {
  await mkdir(dir, { recursive: true });
  const generator = musetalkUnet(size);
  await writeManifest(dir, {
    ...LABEL,
    engine: 'musetalk',
    name: 'untrained-musetalk',
    roles: {
      ...(await writeCommonRoles(dir, size)),
      unet: {
        ...(await writeNetwork(dir, generator)),
        inputs: heardBy(generator),
        outputs: { latent: output(generator) },
      },
    },
    params: {
      resolution: size.resolution,
      latent: latentOf(size),
      audio: { whisper: 'hf', ...statesOf(size), positionalEncoding: 'outside' },
      timestep: 0,
      batch: 8,
      crop: { shift: 0, margin: 10 },
      mask: { mode: 'jaw', leftCheek: 90, rightCheek: 90, blur: 0.05 },
    },
  });
  return openPackFor('musetalk', dir);
}

/** The same for latentsync, with schedule, guidance and mask of another pack. */
export async function writeUntrainedLatentsync(
  dir: string,
  size: NetworkSize,
  like: LatentsyncParams,
): Promise<Pack<LatentsyncManifest>> {
  await mkdir(dir, { recursive: true });
  const generator = latentsyncUnet(size);
  await writeManifest(dir, {
    ...LABEL,
    engine: 'latentsync',
    name: 'untrained-latentsync',
    roles: {
      ...(await writeCommonRoles(dir, size)),
      unet3d: {
        ...(await writeNetwork(dir, generator)),
        inputs: heardBy(generator),
        outputs: { prediction: output(generator) },
      },
    },
    params: {
      ...like,
      resolution: size.resolution,
      latent: latentOf(size),
      audio: { whisper: 'openai', ...statesOf(size) },
    },
  });
  return openPackFor('latentsync', dir);
}

function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  return writeFile(path.join(dir, MANIFEST_FILE), JSON.stringify(manifest));
}

async function writeCommonRoles(dir: string, size: NetworkSize) {
  const { whisper_encoder, vae_encoder, vae_decoder } = commonNetworks(size);
  return {
    whisper_encoder: {
      ...(await writeNetwork(dir, whisper_encoder)),
      inputs: { mel: input(whisper_encoder, 'mel') },
      outputs: { states: output(whisper_encoder) },
    },
    vae_encoder: {
      ...(await writeNetwork(dir, vae_encoder)),
      inputs: { image: input(vae_encoder, 'image') },
      outputs: { latent: output(vae_encoder) },
    },
    vae_decoder: {
      ...(await writeNetwork(dir, vae_decoder)),
      inputs: { latent: input(vae_decoder, 'latent') },
      outputs: { image: output(vae_decoder) },
    },
  };
}

/** The files of a role. */
async function writeNetwork(dir: string, { graph, weights }: Network) {
  const model = encodeModel(graph);
  const file = `${graph.name}.onnx`;
  await writeFile(path.join(dir, file), model);
  await weights.write(path.join(dir, weights.name));
  const data = { file: weights.name, sha256: await sha256OfFile(path.join(dir, weights.name)) };
  return { ...modelFile(file, model), externalData: [data] };
}

function latentOf(size: NetworkSize) {
  const side = latentSide(size);
  return { channels: LATENT_CHANNELS, height: side, width: side, scale: 0.18215 };
}

function statesOf({ whisper: { blocks, width } }: NetworkSize) {
  return { states: 1 + blocks, width };
}

function heardBy(generator: Network) {
  return {
    latent: input(generator, 'latent'),
    timestep: input(generator, 'timestep'),
    audio: input(generator, 'audio'),
  };
}

function input({ graph }: Network, name: string) {
  return tensor(graph.inputs.find((value) => value.name === name));
}

function output({ graph }: Network) {
  return tensor(graph.outputs[0]);
}

function tensor(value: ValueInfo | undefined) {
  if (value === undefined) throw new Error('the graph has no such tensor');
  return { ...value, dims: [...value.dims] };
}
