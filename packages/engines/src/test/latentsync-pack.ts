import { encodeModel, GraphBuilder, modelFile, type Value } from '@lipsync/model-pack';
import { cumulativeAlphas, type ScheduleParams } from '../diffusion/ddim';
import { LANDMARK_COUNT } from '../face/landmarks';
import { type LatentsyncManifest, type LatentsyncParams } from '../latentsync/manifest';
import { openPackFor, type Pack, writePack } from '../packs';
import { WINDOW_STEPS } from '../speech/windows';
import { AUDIO, decoderModel, encoderModel, LATENT, SIDE, TENSORS, whisperModel } from './highsync-pack';

/** The network's target for a frame, as shares of its inputs. */
export const SHARES = { reference: 0.4, masked: 0.2, mask: 0.1, audio: 0.2, landmarks: 0.001 };

/** Like the published packs' except for the end: without noise, so that the result is the target itself. */
const SCHEDULE: ScheduleParams = {
  trainSteps: 1000,
  betaStart: 0.00085,
  betaEnd: 0.012,
  betaSchedule: 'scaled_linear',
  prediction: 'epsilon',
  spacing: 'leading',
  stepsOffset: 1,
  finalAlpha: 'one',
  zeroTerminalSnr: false,
  steps: 4,
};

/** The lower half of the crop, without its sides. */
export const MASK: LatentsyncParams['mask'] = {
  size: SIDE,
  spans: Array.from({ length: 12 }, (_, i): [number, number, number] => [16 + i, 4, 27]),
};

const CHANNELS = 3 * LATENT.channels + 1;
const input = {
  name: 'latent',
  dtype: 'float32' as const,
  dims: [1, CHANNELS, 'f', LATENT.height, LATENT.width],
};
const predictionOf = (conditions: number) => ({
  ...input,
  name: 'epsilon',
  dims: [conditions, LATENT.channels, 'f', LATENT.height, LATENT.width],
});
const audio = {
  name: 'audio',
  dtype: 'float32' as const,
  dims: ['f', WINDOW_STEPS * AUDIO.states, AUDIO.width],
};
const landmarks = { name: 'landmarks', dtype: 'float32' as const, dims: ['f', LANDMARK_COUNT, 2] };

/** With DeepCache, the whole network returns its target, and the timestep that it was computed at. */
const deepOf = (conditions: number) => ({
  ...input,
  name: 'deep',
  dims: [conditions, LATENT.channels + 1, 'f', LATENT.height, LATENT.width],
});

interface Network {
  readonly wantsLandmarks: boolean;
  readonly returnsDeep: boolean;
  readonly conditions: 1 | 2;
}

function unetModel({ wantsLandmarks, returnsDeep, conditions }: Network): Uint8Array {
  const g = new GraphBuilder('epsilon');
  const told = g.input(input.name, 'float32', input.dims);
  const timestep = g.input('timestep', 'int64', [1]);
  const { channels } = LATENT;
  const [noisy, mask, masked, reference] = g.split(told, [channels, 1, channels, channels], 1);
  const meanPerFrame = (value: Value): Value =>
    g.op('Reshape', [g.op('ReduceMean', [value, g.ints([1, 2])], { keepdims: 0 }), g.ints([1, 1, -1, 1, 1])]);
  const isHeard = g.weights([conditions, 1, 1, 1, 1], conditions === 2 ? [0, 1] : [1]);
  const sound = meanPerFrame(g.input(audio.name, 'float32', audio.dims));
  const parts: [Value, number][] = [
    [masked, SHARES.masked],
    [mask, SHARES.mask],
    [g.op('Mul', [sound, isHeard]), SHARES.audio],
  ];
  if (wantsLandmarks) {
    parts.push([meanPerFrame(g.input(landmarks.name, 'float32', landmarks.dims)), SHARES.landmarks]);
  }
  const target = parts.reduce(
    (sum, [part, share]) => g.op('Add', [sum, g.op('Mul', [part, share])]),
    g.op('Mul', [reference, SHARES.reference]),
  );
  const prediction = predictionOf(conditions);
  g.output(prediction.name, epsilon(g, noisy, target, timestep), 'float32', prediction.dims);
  if (returnsDeep) {
    const nothing = g.op('Mul', [g.op('Mul', [mask, isHeard]), 0]);
    const time = g.op('Add', [nothing, g.op('Cast', [timestep], { to: 1 })]);
    const deep = deepOf(conditions);
    g.output(deep.name, g.op('Concat', [target, time], { axis: 1 }), 'float32', deep.dims);
  }
  return encodeModel(g.build());
}

function shallowModel(conditions: 1 | 2): Uint8Array {
  const [prediction, deep] = [predictionOf(conditions), deepOf(conditions)];
  const g = new GraphBuilder('epsilon_of_known_target');
  const told = g.input(input.name, 'float32', input.dims);
  const timestep = g.input('timestep', 'int64', [1]);
  g.input(audio.name, 'float32', audio.dims);
  const { channels } = LATENT;
  const [noisy] = g.split(told, [channels, 2 * channels + 1], 1);
  const [target] = g.split(g.input(deep.name, 'float32', deep.dims), [channels, 1], 1);
  g.output(prediction.name, epsilon(g, noisy, target, timestep), 'float32', prediction.dims);
  return encodeModel(g.build());
}

/** The ε that leads a sampler of this schedule exactly to a target, whatever the noise: (x − √a · x₀) / √(1−a). */
function epsilon(g: GraphBuilder, noisy: Value, target: Value, timestep: Value): Value {
  const alphas = cumulativeAlphas(SCHEDULE);
  const table = (of: (alpha: number) => number): Value =>
    g.op('Gather', [g.weights([alphas.length], alphas.map(of)), timestep]);
  const scaled = g.op('Mul', [noisy, table((alpha) => 1 / Math.sqrt(1 - alpha))]);
  const clean = g.op('Mul', [target, table((alpha) => Math.sqrt(alpha / (1 - alpha)))]);
  return g.op('Sub', [scaled, clean]);
}

export interface LatentsyncPackChanges {
  readonly schedule?: Partial<ScheduleParams>;
  readonly guidance?: number;
  readonly mask?: LatentsyncParams['mask'];
  readonly landmarks?: boolean;
  readonly deepCache?: LatentsyncParams['deepCache'];
  readonly batch?: number;
  /** How many of guidance's conditions the network computes at once. */
  readonly conditions?: 1 | 2;
}

/** Writes a latentsync pack whose network knows the answer: SHARES of all its inputs for a frame. */
export async function writeLatentsyncPack(
  dir: string,
  changes: LatentsyncPackChanges = {},
): Promise<Pack<LatentsyncManifest>> {
  const { landmarks: wantsLandmarks = true, deepCache, batch, conditions = 1 } = changes;
  const network = { wantsLandmarks, returnsDeep: deepCache !== undefined, conditions };
  const [prediction, deep] = [predictionOf(conditions), deepOf(conditions)];
  const models = {
    'whisper.onnx': whisperModel(),
    'encoder.onnx': encoderModel(),
    'unet.onnx': unetModel(network),
    'shallow.onnx': shallowModel(conditions),
    'decoder.onnx': decoderModel(),
  };
  const { mel, states, image, latent, moments, timestep } = TENSORS;
  const file = (name: keyof typeof models) => modelFile(name, models[name]);
  const manifest: LatentsyncManifest = {
    format: 1,
    engine: 'latentsync',
    name: 'analytic-latentsync',
    version: '1.0.0',
    licence: { spdx: 'MIT', source: 'Made for tests.' },
    providers: ['cpu'],
    roles: {
      whisper_encoder: { ...file('whisper.onnx'), inputs: { mel }, outputs: { states } },
      vae_encoder: { ...file('encoder.onnx'), inputs: { image }, outputs: { latent: moments } },
      unet3d: {
        ...file('unet.onnx'),
        inputs: { latent: input, timestep, audio, ...(wantsLandmarks && { landmarks }) },
        outputs: { prediction, ...(deepCache && { deep }) },
      },
      ...(deepCache && {
        unet3d_shallow: {
          ...file('shallow.onnx'),
          inputs: { latent: input, timestep, audio, deep },
          outputs: { prediction },
        },
      }),
      vae_decoder: { ...file('decoder.onnx'), inputs: { latent }, outputs: { image } },
    },
    params: {
      resolution: SIDE,
      latent: LATENT,
      ...(batch && { batch }),
      audio: AUDIO,
      window: 16,
      schedule: { ...SCHEDULE, ...changes.schedule },
      ...(deepCache && { deepCache }),
      guidance: changes.guidance ?? 1.5,
      seed: 1247,
      mask: changes.mask ?? MASK,
    },
  };
  await writePack(dir, manifest, models);
  return openPackFor('latentsync', dir);
}
