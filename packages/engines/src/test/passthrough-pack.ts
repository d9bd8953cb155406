import { encodeModel, floatTensor, GraphBuilder, modelFile } from '@lipsync/model-pack';
import { type Pack, writePack } from '../packs';
import { MEL_BANDS, SEGMENT_FRAMES } from '../speech/log-mel';
import { WINDOW_STEPS } from '../speech/windows';

/** The shapes of the official musetalk weights. */
const SIDE = 256;
const BLOCK = 8;
const CELLS = SIDE / BLOCK;
const CHANNELS = 4;
const STEPS = 1500;
const STATES = 5;
const WIDTH = 384;

const IMAGE = ['batch', 3, SIDE, SIDE] as const;
const LATENT = ['batch', CHANNELS, CELLS, CELLS] as const;
const BOTH_LATENTS = ['batch', 2 * CHANNELS, CELLS, CELLS] as const;
const AUDIO = ['batch', WINDOW_STEPS * STATES, WIDTH] as const;
const STATES_DIMS = [1, STEPS, STATES, WIDTH];
const MEL = [1, MEL_BANDS, SEGMENT_FRAMES];

/**
 * Writes a musetalk pack for benchmarks: tensors with the official shapes, but graphs that cost almost nothing, so that
 * the duration of a render is that of the pipeline. It repeats one pixel of every 8×8 block of the face and ignores the
 * audio. Not for serving.
 */
export async function writePassthroughPack(dir: string): Promise<Pack> {
  const models = {
    'whisper-encoder.onnx': deafModel(),
    'vae-encoder.onnx': encoderModel(),
    'unet.onnx': referenceModel(),
    'vae-decoder.onnx': decoderModel(),
  };
  const role = (file: keyof typeof models) => modelFile(file, models[file]);
  const image = floatTensor('image', IMAGE, [-1, 1]);
  const latent = floatTensor('latent', LATENT);
  return writePack(
    dir,
    {
      format: 1,
      engine: 'musetalk',
      name: 'bench-passthrough',
      version: '1.0.0',
      license: { spdx: 'MIT', source: 'Graphs written by this project; no learned weights.' },
      providers: ['cpu'],
      roles: {
        whisper_encoder: {
          ...role('whisper-encoder.onnx'),
          inputs: { mel: floatTensor('mel', MEL) },
          outputs: { states: floatTensor('states', STATES_DIMS) },
        },
        vae_encoder: { ...role('vae-encoder.onnx'), inputs: { image }, outputs: { latent } },
        unet: {
          ...role('unet.onnx'),
          inputs: {
            latent: floatTensor('latent', BOTH_LATENTS),
            timestep: { name: 'timestep', dtype: 'int64', dims: [1] },
            audio: floatTensor('audio', AUDIO),
          },
          outputs: { latent: floatTensor('clean', LATENT) },
        },
        vae_decoder: { ...role('vae-decoder.onnx'), inputs: { latent }, outputs: { image } },
      },
      params: {
        resolution: SIDE,
        latent: { channels: CHANNELS, height: CELLS, width: CELLS, scale: 0.18215 },
        audio: { whisper: 'hf', states: STATES, width: WIDTH, positionalEncoding: 'outside' },
        timestep: 0,
        batch: 8,
        crop: { shift: 0, margin: 10 },
        mask: { mode: 'jaw', leftCheek: 90, rightCheek: 90, blur: 0.05 },
      },
    },
    models,
  );
}

function deafModel(): Uint8Array {
  const g = new GraphBuilder('nothing');
  g.input('mel', 'float32', MEL);
  g.output('states', g.op('Expand', [g.scalar(0), g.ints(STATES_DIMS)]), 'float32', STATES_DIMS);
  return encodeModel(g.build());
}

/** One pixel of every block in three channels, nothing in the fourth. */
function encoderModel(): Uint8Array {
  const g = new GraphBuilder('every_eighth_pixel');
  const image = g.input('image', 'float32', IMAGE);
  const middle = g.ints([BLOCK / 2, BLOCK / 2]);
  const sampled = g.op('Slice', [
    image,
    middle,
    g.ints([SIDE, SIDE]),
    g.ints([2, 3]),
    g.ints([BLOCK, BLOCK]),
  ]);
  const padded = g.op('Pad', [sampled, g.ints([0, 0, 0, 0, 0, CHANNELS - 3, 0, 0])]);
  g.output('latent', padded, 'float32', LATENT);
  return encodeModel(g.build());
}

/** Takes the second of the two latents side by side, that of the whole face. */
function referenceModel(): Uint8Array {
  const g = new GraphBuilder('reference');
  const latent = g.input('latent', 'float32', BOTH_LATENTS);
  g.input('timestep', 'int64', [1]);
  g.input('audio', 'float32', AUDIO);
  const reference = g.op('Slice', [latent, g.ints([CHANNELS]), g.ints([2 * CHANNELS]), g.ints([1])]);
  g.output('clean', reference, 'float32', LATENT);
  return encodeModel(g.build());
}

/** Makes blocks of one color: repeats columns while there are few rows, then copies whole rows. */
function decoderModel(): Uint8Array {
  const g = new GraphBuilder('blocks');
  const latent = g.input('latent', 'float32', LATENT);
  const colors = g.op('Slice', [latent, g.ints([0]), g.ints([3]), g.ints([1])]);
  const single = g.op('Reshape', [colors, g.ints([-1, 3, CELLS, CELLS, 1])]);
  const repeated = g.op('Expand', [single, g.ints([1, 3, CELLS, CELLS, BLOCK])]);
  const wide = g.op('Reshape', [repeated, g.ints([-1, 3, CELLS, SIDE])]);
  const rows = Array.from({ length: SIDE }, (_, row) => Math.floor(row / BLOCK));
  g.output('image', g.op('Gather', [wide, g.ints(rows)], { axis: 2 }), 'float32', IMAGE);
  return encodeModel(g.build());
}
