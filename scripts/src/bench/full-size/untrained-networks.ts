import { commonNetworks, LATENT_CHANNELS, latentSide, type Network, type NetworkSize } from './networks';
import { type Manifest } from '@lipsync/engines';
import { encodeModel, MANIFEST_FILE, modelFile, sha256OfFile, type ValueInfo } from '@lipsync/model-pack';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The manifest fields of packs with untrained networks, apart from their names. */
export const LABEL: Pick<Manifest, 'format' | 'version' | 'licence' | 'providers'> = {
  format: 1,
  version: '1.0.0',
  licence: { spdx: 'MIT', source: 'Random weights, for measuring speed and memory.' },
  providers: ['cuda', 'webgpu', 'cpu'],
};

/** Writes the networks that every engine has into the new folder of a pack. */
export async function writeCommonRoles(dir: string, size: NetworkSize) {
  await mkdir(dir, { recursive: true });
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

/** Writes a graph and its weights. Returns the files of a role. */
export async function writeNetwork(dir: string, network: Network) {
  await network.weights.write(path.join(dir, network.weights.name));
  return writeGraph(dir, network);
}

/** The same for a network whose weights are already written. */
export async function writeGraph(dir: string, { graph, weights }: Network) {
  const model = encodeModel(graph);
  const file = `${graph.name}.onnx`;
  await writeFile(path.join(dir, file), model);
  const data = { file: weights.name, sha256: await sha256OfFile(path.join(dir, weights.name)) };
  return { ...modelFile(file, model), externalData: [data] };
}

export function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  return writeFile(path.join(dir, MANIFEST_FILE), JSON.stringify(manifest));
}

export function latentOf(size: NetworkSize) {
  const side = latentSide(size);
  return { channels: LATENT_CHANNELS, height: side, width: side, scale: 0.18215 };
}

export function statesOf({ whisper: { blocks, width } }: NetworkSize) {
  return { states: 1 + blocks, width };
}

/** The inputs that every generator has. */
export function generatorInputs(generator: Network) {
  return {
    latent: input(generator, 'latent'),
    timestep: input(generator, 'timestep'),
    audio: input(generator, 'audio'),
  };
}

export function input({ graph }: Network, name: string) {
  return tensor(graph.inputs.find((value) => value.name === name));
}

/** The only output, or the first one. */
export function output({ graph }: Network) {
  return tensor(graph.outputs[0]);
}

/** All tensors by name. */
export function tensors(values: readonly ValueInfo[]) {
  return Object.fromEntries(values.map((value) => [value.name, tensor(value)]));
}

function tensor(value: ValueInfo | undefined) {
  if (value === undefined) throw new Error('the graph has no such tensor');
  return { ...value, dims: [...value.dims] };
}
