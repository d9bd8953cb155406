import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeModel, GraphBuilder, modelFile, modelPath } from '@lipsync/model-pack';
import { type MusetalkManifest } from '../musetalk/manifest';
import { openPackFor, type Pack, writePack } from '../packs';

const SIDE = 256;
const CELLS = 32;
const BLOCK = SIDE / CELLS;
const PARSED = 512;

/** Pixels brighter than this in the parser's normalized picture are skin: the upper part of the scale. */
const SKIN_FROM = 0;
/** The element type of ONNX. */
const UINT8 = 2;

interface PooledPack {
  /** Adds a `face_parsing` role that classifies bright pixels as skin. */
  readonly parsing?: boolean;
  readonly params?: Partial<MusetalkManifest['params']>;
}

/**
 * A musetalk pack whose features are small enough to be kept, like those of the official weights: its latent is the
 * mean color of every 8 × 8 pixels, and its generator inverts the lower half of the picture.
 */
export async function writePooledMusetalkPack(
  dir: string,
  builtinPacks: string,
  { parsing = false, params }: PooledPack = {},
): Promise<Pack<MusetalkManifest>> {
  const builtin = await openPackFor('musetalk', join(builtinPacks, 'builtin-musetalk'));
  const { whisper_encoder, unet } = builtin.manifest.roles;
  const models = {
    [whisper_encoder.file]: await readFile(modelPath(builtin, whisper_encoder)),
    'encoder.onnx': encoder(),
    'unet.onnx': generator(unet.inputs.audio.dims),
    'decoder.onnx': decoder(),
    ...(parsing && { 'parser.onnx': parser() }),
  };
  const float = (name: string, dims: (number | string)[]) => ({ name, dtype: 'float32' as const, dims });
  const image = float('image', ['batch', 3, SIDE, SIDE]);
  const latent = float('latent', ['batch', 3, CELLS, CELLS]);
  const file = (name: 'encoder.onnx' | 'unet.onnx' | 'decoder.onnx') => modelFile(name, models[name]);
  const manifest: MusetalkManifest = {
    ...builtin.manifest,
    name: 'pooled-musetalk',
    roles: {
      whisper_encoder,
      vae_encoder: { ...file('encoder.onnx'), inputs: { image }, outputs: { latent } },
      unet: {
        ...file('unet.onnx'),
        inputs: {
          latent: float('latent', ['batch', 6, CELLS, CELLS]),
          timestep: unet.inputs.timestep,
          audio: unet.inputs.audio,
        },
        outputs: { latent: float('clean', ['batch', 3, CELLS, CELLS]) },
      },
      vae_decoder: { ...file('decoder.onnx'), inputs: { latent }, outputs: { image } },
      ...(models['parser.onnx'] && {
        face_parsing: {
          ...modelFile('parser.onnx', models['parser.onnx']),
          inputs: { image: float('image', [1, 3, PARSED, PARSED]) },
          outputs: { classes: { name: 'classes', dtype: 'uint8', dims: [1, PARSED, PARSED] } },
        },
      }),
    },
    params: {
      ...builtin.manifest.params,
      resolution: SIDE,
      latent: { channels: 3, height: CELLS, width: CELLS, scale: 0.5 },
      ...params,
    },
  };
  return { ...(await writePack(dir, manifest, models)), manifest };
}

function encoder(): Uint8Array {
  const g = new GraphBuilder('mean_of_blocks');
  const image = g.input('image', 'float32', ['batch', 3, SIDE, SIDE]);
  const mean = g.op('AveragePool', [image], { kernel_shape: [BLOCK, BLOCK], strides: [BLOCK, BLOCK] });
  g.output('latent', mean, 'float32', ['batch', 3, CELLS, CELLS]);
  return encodeModel(g.build());
}

function generator(audioDims: readonly (number | string)[]): Uint8Array {
  const g = new GraphBuilder('negative_below');
  const latent = g.input('latent', 'float32', ['batch', 6, CELLS, CELLS]);
  g.input('timestep', 'int64', [1]);
  g.input('audio', 'float32', audioDims);
  const whole = g.op('Slice', [latent, g.ints([3]), g.ints([6]), g.ints([1])]);
  const signs = Array.from({ length: CELLS }, (_, row) => (row < CELLS / 2 ? 1 : -1));
  const clean = g.op('Mul', [whole, g.weights([1, 1, CELLS, 1], signs)]);
  g.output('clean', clean, 'float32', ['batch', 3, CELLS, CELLS]);
  return encodeModel(g.build());
}

function decoder(): Uint8Array {
  const g = new GraphBuilder('blocks_of_mean');
  const latent = g.input('latent', 'float32', ['batch', 3, CELLS, CELLS]);
  const image = g.op('Resize', [latent, null, g.weights([4], [1, 1, BLOCK, BLOCK])], { mode: 'nearest' });
  g.output('image', image, 'float32', ['batch', 3, SIDE, SIDE]);
  return encodeModel(g.build());
}

function parser(): Uint8Array {
  const g = new GraphBuilder('bright_is_skin');
  const image = g.input('image', 'float32', [1, 3, PARSED, PARSED]);
  const brightness = g.op('ReduceMean', [image, g.ints([1])], { keepdims: 0 });
  const classes = g.op('Cast', [g.op('Greater', [brightness, SKIN_FROM])], { to: UINT8 });
  g.output('classes', classes, 'uint8', [1, PARSED, PARSED]);
  return encodeModel(g.build());
}
