import { encodeModel, floatTensor, GraphBuilder, modelFile } from '@lipsync/model-pack';
import { LANDMARK_COUNT } from '../face/landmarks';
import { type MusetalkManifest } from '../musetalk/manifest';
import { openPackFor, type Pack, writePack } from '../packs';
import { MEL_BANDS, SEGMENT_FRAMES } from '../speech/log-mel';
import { WINDOW_STEPS } from '../speech/windows';

const SIDE = 256;
const CELLS = 32;
const BLOCK = SIDE / CELLS;
const PARSED = 512;
const STEPS = SEGMENT_FRAMES / 2;
const STATES = 5;
const WIDTH = 384;

/** Pixels brighter than this in the parser's normalized picture are skin: the upper part of the scale. */
const SKIN_FROM = 0;
/** The element type of ONNX. */
const UINT8 = 2;

const mel = floatTensor('mel', [1, MEL_BANDS, SEGMENT_FRAMES]);
const states = floatTensor('states', [1, STEPS, STATES, WIDTH]);
const image = floatTensor('image', ['batch', 3, SIDE, SIDE]);
const latent = floatTensor('latent', ['batch', 3, CELLS, CELLS]);
const latents = floatTensor('latent', ['batch', 6, CELLS, CELLS]);
const audio = floatTensor('audio', ['batch', WINDOW_STEPS * STATES, WIDTH]);
const landmarks = floatTensor('landmarks', ['batch', LANDMARK_COUNT, 2]);

interface PooledPack {
  /** Adds a `face_parsing` role that classifies bright pixels as skin, of so many faces per call. */
  readonly parsing?: false | 'one face' | 'a batch';
  /** Has the generator ask for landmarks, which it ignores. */
  readonly landmarks?: boolean;
  /** How much a face is brightened by the mean of its window of sound; by default the generator is deaf. */
  readonly loudness?: number;
  readonly params?: Partial<MusetalkManifest['params']>;
}

/**
 * A musetalk pack whose features are small enough to be kept, like those of the official weights: its latent is the
 * mean color of every 8 × 8 pixels, and its generator inverts the lower half of the picture.
 */
export async function writePooledMusetalkPack(
  dir: string,
  { parsing = false, landmarks: wantsLandmarks = false, loudness = 0, params }: PooledPack = {},
): Promise<Pack<MusetalkManifest>> {
  const parsedFaces = parsing === 'a batch' ? 'batch' : 1;
  const models = {
    'whisper.onnx': hearing(),
    'encoder.onnx': encoder(),
    'unet.onnx': generator(wantsLandmarks, loudness),
    'decoder.onnx': decoder(),
    ...(parsing && { 'parser.onnx': parser(parsedFaces) }),
  };
  const file = (name: Exclude<keyof typeof models, 'parser.onnx'>) => modelFile(name, models[name]);
  const manifest: MusetalkManifest = {
    format: 1,
    engine: 'musetalk',
    name: 'pooled-musetalk',
    version: '1.0.0',
    license: { spdx: 'MIT', source: 'Made for tests.' },
    providers: ['cpu'],
    roles: {
      whisper_encoder: { ...file('whisper.onnx'), inputs: { mel }, outputs: { states } },
      vae_encoder: { ...file('encoder.onnx'), inputs: { image }, outputs: { latent } },
      unet: {
        ...file('unet.onnx'),
        inputs: {
          latent: latents,
          timestep: { name: 'timestep', dtype: 'int64', dims: [1] },
          audio,
          ...(wantsLandmarks && { landmarks }),
        },
        outputs: { latent: { ...latent, name: 'clean' } },
      },
      vae_decoder: { ...file('decoder.onnx'), inputs: { latent }, outputs: { image } },
      ...(models['parser.onnx'] && {
        face_parsing: {
          ...modelFile('parser.onnx', models['parser.onnx']),
          inputs: { image: floatTensor('image', [parsedFaces, 3, PARSED, PARSED]) },
          outputs: { classes: { name: 'classes', dtype: 'uint8', dims: [parsedFaces, PARSED, PARSED] } },
        },
      }),
    },
    params: {
      resolution: SIDE,
      latent: { channels: 3, height: CELLS, width: CELLS, scale: 0.5 },
      audio: { whisper: 'hf', states: STATES, width: WIDTH, positionalEncoding: 'outside' },
      timestep: 0,
      batch: 8,
      crop: { shift: 0, margin: 10 },
      mask: { mode: 'jaw', leftCheek: 90, rightCheek: 90, blur: 0.05 },
      ...params,
    },
  };
  await writePack(dir, manifest, models);
  return openPackFor('musetalk', dir);
}

/** Every value of a step's states is the mean of its two frames of the spectrogram. */
function hearing(): Uint8Array {
  const g = new GraphBuilder('loudness');
  const steps = g.op('Reshape', [g.input('mel', 'float32', mel.dims), g.ints([1, MEL_BANDS, STEPS, 2])]);
  const means = g.op('ReduceMean', [steps, g.ints([1, 3])], { keepdims: 0 });
  const single = g.op('Reshape', [means, g.ints([1, STEPS, 1, 1])]);
  g.output('states', g.op('Expand', [single, g.ints([1, STEPS, STATES, WIDTH])]), 'float32', states.dims);
  return encodeModel(g.build());
}

function encoder(): Uint8Array {
  const g = new GraphBuilder('mean_of_blocks');
  const pixels = g.input('image', 'float32', image.dims);
  const mean = g.op('AveragePool', [pixels], { kernel_shape: [BLOCK, BLOCK], strides: [BLOCK, BLOCK] });
  g.output('latent', mean, 'float32', latent.dims);
  return encodeModel(g.build());
}

function generator(wantsLandmarks: boolean, loudness: number): Uint8Array {
  const g = new GraphBuilder('negative_below');
  const both = g.input('latent', 'float32', latents.dims);
  g.input('timestep', 'int64', [1]);
  const sound = g.op('ReduceMean', [g.input('audio', 'float32', audio.dims), g.ints([1, 2])], {
    keepdims: 1,
  });
  if (wantsLandmarks) g.input('landmarks', 'float32', landmarks.dims);
  const whole = g.op('Slice', [both, g.ints([3]), g.ints([6]), g.ints([1])]);
  const below = Array.from({ length: CELLS }, (_, row) => (row < CELLS / 2 ? 0 : 1));
  const perRow = (value: (isBelow: number) => number) => g.weights([1, 1, CELLS, 1], below.map(value));
  const inverted = g.op('Mul', [whole, perRow((isBelow) => 1 - 2 * isBelow)]);
  const bright = g.op('Mul', [
    g.op('Unsqueeze', [sound, g.ints([3])]),
    perRow((isBelow) => loudness * isBelow),
  ]);
  g.output('clean', g.op('Add', [inverted, bright]), 'float32', latent.dims);
  return encodeModel(g.build());
}

function decoder(): Uint8Array {
  const g = new GraphBuilder('blocks_of_mean');
  const cells = g.input('latent', 'float32', latent.dims);
  const blocks = g.op('Resize', [cells, null, g.weights([4], [1, 1, BLOCK, BLOCK])], { mode: 'nearest' });
  g.output('image', blocks, 'float32', image.dims);
  return encodeModel(g.build());
}

function parser(faces: 1 | 'batch'): Uint8Array {
  const g = new GraphBuilder('bright_is_skin');
  const pixels = g.input('image', 'float32', [faces, 3, PARSED, PARSED]);
  const brightness = g.op('ReduceMean', [pixels, g.ints([1])], { keepdims: 0 });
  const classes = g.op('Cast', [g.op('Greater', [brightness, SKIN_FROM])], { to: UINT8 });
  g.output('classes', classes, 'uint8', [faces, PARSED, PARSED]);
  return encodeModel(g.build());
}
