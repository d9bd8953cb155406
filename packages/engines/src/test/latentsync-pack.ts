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
const denoised = { ...input, name: 'denoised' };
const timestepsOf = (count: number) => ({ name: 'timestep', dtype: 'int64' as const, dims: [count] });
const audio = {
  name: 'audio',
  dtype: 'float32' as const,
  dims: ['f', WINDOW_STEPS * AUDIO.states, AUDIO.width],
};
const landmarks = { name: 'landmarks', dtype: 'float32' as const, dims: ['f', LANDMARK_COUNT, 2] };

/** The target of every frame, heard in as many conditions as there are factors for the sound. */
function targetOf(g: GraphBuilder, told: Value, heard: readonly number[], wantsLandmarks: boolean): Value {
  const { channels } = LATENT;
  const [, mask, masked, reference] = g.split(told, [channels, 1, channels, channels], 1);
  const meanPerFrame = (value: Value): Value =>
    g.op('Reshape', [g.op('ReduceMean', [value, g.ints([1, 2])], { keepdims: 0 }), g.ints([1, 1, -1, 1, 1])]);
  const sound = meanPerFrame(g.input(audio.name, 'float32', audio.dims));
  const parts: [Value, number][] = [
    [masked, SHARES.masked],
    [mask, SHARES.mask],
    [g.op('Mul', [sound, g.weights([heard.length, 1, 1, 1, 1], heard)]), SHARES.audio],
  ];
  if (wantsLandmarks) {
    parts.push([meanPerFrame(g.input(landmarks.name, 'float32', landmarks.dims)), SHARES.landmarks]);
  }
  return parts.reduce(
    (sum, [part, share]) => g.op('Add', [sum, g.op('Mul', [part, share])]),
    g.op('Mul', [reference, SHARES.reference]),
  );
}

function predictingModel(conditions: 1 | 2, wantsLandmarks: boolean): Uint8Array {
  const g = new GraphBuilder('epsilon');
  const told = g.input(input.name, 'float32', input.dims);
  const timestep = g.input('timestep', 'int64', [1]);
  const target = targetOf(g, told, conditions === 2 ? [0, 1] : [1], wantsLandmarks);
  const prediction = predictionOf(conditions);
  g.output(prediction.name, epsilon(g, noisyOf(g, told), target, timestep), 'float32', prediction.dims);
  return encodeModel(g.build());
}

/** Takes `interval` steps, each of which moves the noisy part by its coefficients. */
function steppingModel(interval: number, isGuided: boolean, wantsLandmarks: boolean): Uint8Array {
  const heard = isGuided ? [0, 1] : [1];
  const g = new GraphBuilder('several_steps');
  const told = g.input(input.name, 'float32', input.dims);
  const timesteps = g.input('timestep', 'int64', [interval]);
  const coefficients = g.input('coefficients', 'float32', [interval, 1 + heard.length]);
  const target = targetOf(g, told, heard, wantsLandmarks);
  const [, known] = g.split(told, [LATENT.channels, CHANNELS - LATENT.channels], 1);
  let noisy = noisyOf(g, told);
  for (let step = 0; step < interval; step++) {
    const at = (value: Value, ends: readonly number[], starts: readonly number[]): Value =>
      g.op('Slice', [value, g.ints(starts), g.ints(ends)]);
    const predicted = epsilon(g, noisy, target, at(timesteps, [step + 1], [step]));
    const predictions = heard.length === 1 ? [predicted] : g.split(predicted, [1, 1], 0);
    noisy = [noisy, ...predictions]
      .map((part, i) => g.op('Mul', [part, at(coefficients, [step + 1, i + 1], [step, i])]))
      .reduce((sum, part) => g.op('Add', [sum, part]));
  }
  g.output(denoised.name, g.op('Concat', [noisy, known], { axis: 1 }), 'float32', denoised.dims);
  return encodeModel(g.build());
}

function noisyOf(g: GraphBuilder, told: Value): Value {
  return g.split(told, [LATENT.channels, CHANNELS - LATENT.channels], 1)[0];
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
  readonly batch?: number;
  /** How many of guidance's conditions the network predicts at once. */
  readonly conditions?: 1 | 2;
  /** How many steps a call takes of a network that takes steps. */
  readonly interval?: number;
}

/** Writes a latentsync pack whose network knows the answer: SHARES of all its inputs for a frame. */
export async function writeLatentsyncPack(
  dir: string,
  changes: LatentsyncPackChanges = {},
): Promise<Pack<LatentsyncManifest>> {
  const { landmarks: wantsLandmarks = true, batch, conditions = 1, interval, guidance = 1.5 } = changes;
  const models = {
    'whisper.onnx': whisperModel(),
    'encoder.onnx': encoderModel(),
    'unet.onnx':
      interval === undefined
        ? predictingModel(conditions, wantsLandmarks)
        : steppingModel(interval, guidance > 1, wantsLandmarks),
    'decoder.onnx': decoderModel(),
  };
  const { mel, states, image, latent, moments } = TENSORS;
  const file = (name: keyof typeof models) => modelFile(name, models[name]);
  const manifest: LatentsyncManifest = {
    format: 1,
    engine: 'latentsync',
    name: 'analytic-latentsync',
    version: '1.0.0',
    license: { spdx: 'MIT', source: 'Made for tests.' },
    providers: ['cpu'],
    roles: {
      whisper_encoder: { ...file('whisper.onnx'), inputs: { mel }, outputs: { states } },
      vae_encoder: { ...file('encoder.onnx'), inputs: { image }, outputs: { latent: moments } },
      unet3d: {
        ...file('unet.onnx'),
        inputs: {
          latent: input,
          timestep: timestepsOf(interval ?? 1),
          audio,
          ...(interval && {
            coefficients: {
              name: 'coefficients',
              dtype: 'float32',
              dims: [interval, guidance > 1 ? 3 : 2],
            },
          }),
          ...(wantsLandmarks && { landmarks }),
        },
        outputs: interval ? { latent: denoised } : { prediction: predictionOf(conditions) },
      },
      vae_decoder: { ...file('decoder.onnx'), inputs: { latent }, outputs: { image } },
    },
    params: {
      resolution: SIDE,
      latent: LATENT,
      ...(batch && { batch }),
      audio: AUDIO,
      window: 16,
      schedule: { ...SCHEDULE, ...changes.schedule },
      guidance,
      seed: 1247,
      mask: changes.mask ?? MASK,
    },
  };
  await writePack(dir, manifest, models);
  return openPackFor('latentsync', dir);
}
