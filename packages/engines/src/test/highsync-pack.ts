import { encodeModel, GraphBuilder, modelFile, type Value } from '@lipsync/model-pack';
import { createDdim, type ScheduleParams } from '../diffusion/ddim';
import { type HighsyncManifest, type HighsyncParams } from '../highsync/manifest';
import { openPackFor, type Pack, writePack } from '../packs';
import { MEL_BANDS, SEGMENT_FRAMES } from '../speech/log-mel';
import { WINDOW_STEPS } from '../speech/windows';

/** The cells that the pack below generates. */
export const MASK = { top: 3, bottom: 6, left: 1, right: 6 };

/**
 * Writes a highsync pack whose networks know the answer: SHARES of the frame's clean latent, its audio and its
 * landmarks. Any sampler that follows the schedule must end there.
 */
export async function writeHighsyncPack(
  dir: string,
  changes: Partial<Pick<HighsyncParams, 'guidance' | 'guidanceInterval' | 'stretch'>> & {
    steps?: number;
  } = {},
): Promise<Pack<HighsyncManifest>> {
  const { steps = 4, guidance = 3.5, guidanceInterval, stretch = 48 } = changes;
  const models = {
    'whisper.onnx': whisperModel(),
    'encoder.onnx': encoderModel(),
    'reference.onnx': referenceModel(),
    'conditional.onnx': denoisingModel(true, guidance),
    'unconditional.onnx': denoisingModel(false, guidance),
    'decoder.onnx': decoderModel(),
  };
  const { mel, states, image, latent, moments, bank_0, bank_1, timestep, audio, prediction } = TENSORS;
  const ofWindow = (bank: typeof bank_0) => ({ ...bank, dims: [WINDOW, ...bank.dims.slice(1)] });
  const file = (name: keyof typeof models) => modelFile(name, models[name]);
  const seenByBoth = { latent: TENSORS.window, timestep, audio };
  const manifest: HighsyncManifest = {
    format: 1,
    engine: 'highsync',
    name: 'analytic-highsync',
    version: '1.0.0',
    license: { spdx: 'MIT', source: 'Made for tests.' },
    providers: ['cpu'],
    roles: {
      whisper_encoder: { ...file('whisper.onnx'), inputs: { mel }, outputs: { states } },
      vae_encoder: { ...file('encoder.onnx'), inputs: { image }, outputs: { latent: moments } },
      reference_unet: { ...file('reference.onnx'), inputs: { latent }, outputs: { bank_0, bank_1 } },
      denoising_unet: {
        ...file('conditional.onnx'),
        inputs: {
          ...seenByBoth,
          landmarks: TENSORS.landmarks,
          bank_0: ofWindow(bank_0),
          bank_1: ofWindow(bank_1),
        },
        outputs: { prediction },
      },
      ...(guidance > 1 && {
        denoising_unet_unconditional: {
          ...file('unconditional.onnx'),
          inputs: seenByBoth,
          outputs: { prediction },
        },
      }),
      vae_decoder: { ...file('decoder.onnx'), inputs: { latent }, outputs: { image } },
    },
    params: {
      resolution: SIDE,
      latent: LATENT,
      audio: AUDIO,
      window: WINDOW,
      overlap: 3,
      schedule: { ...SCHEDULE, steps },
      guidance,
      ...(guidanceInterval && { guidanceInterval }),
      seed: 42,
      mask: MASK,
      stretch,
    },
  };
  await writePack(dir, manifest, models);
  return openPackFor('highsync', dir);
}

/** Sizes of the networks below: small, with the same ranks as the published ones. */
export const SIDE = 32;
export const BLOCK = 4;
export const LATENT = { channels: 3 * BLOCK * BLOCK, height: SIDE / BLOCK, width: SIDE / BLOCK, scale: 0.5 };
export const AUDIO = { whisper: 'openai', states: 1, width: 2 } as const;
const WINDOW = 12;
/** Encoder steps in 30 s. */
export const STEPS = SEGMENT_FRAMES / 2;
/** The denoising networks' target for a frame: shares of its clean latent, its audio and its landmarks. */
export const SHARES = { reference: 0.4, audio: 0.2, landmarks: 0.001 };

/** The published one with fewer steps. */
export const SCHEDULE: ScheduleParams = {
  trainSteps: 1000,
  betaStart: 0.00085,
  betaEnd: 0.012,
  betaSchedule: 'linear',
  prediction: 'v_prediction',
  spacing: 'trailing',
  stepsOffset: 1,
  finalAlpha: 'one',
  zeroTerminalSnr: true,
  steps: 4,
};

const TOKENS = LATENT.height * LATENT.width;
const PLANE = ['n', LATENT.channels, LATENT.height, LATENT.width] as const;
const LATENTS = [1, LATENT.channels, WINDOW, LATENT.height, LATENT.width] as const;
const IMAGE = ['n', 3, SIDE, SIDE] as const;

/** Name and shape of each graph's tensors, as in a manifest. */
export const TENSORS = {
  mel: tensor('mel', [1, MEL_BANDS, SEGMENT_FRAMES]),
  states: tensor('states', [1, STEPS, AUDIO.states, AUDIO.width]),
  image: tensor('image', IMAGE),
  latent: tensor('latent', PLANE),
  moments: tensor('moments', ['n', 2 * LATENT.channels, LATENT.height, LATENT.width]),
  bank_0: tensor('tokens', ['n', TOKENS, LATENT.channels]),
  bank_1: tensor('mean', ['n', 1, 1]),
  window: tensor('latent', LATENTS),
  timestep: { name: 'timestep', dtype: 'int64' as const, dims: [1] },
  audio: tensor('audio', [1, WINDOW, WINDOW_STEPS * AUDIO.states, AUDIO.width]),
  landmarks: tensor('landmarks', [1, WINDOW, 68, 2]),
  prediction: tensor('v', LATENTS),
};

function tensor(name: string, dims: readonly (number | string)[]) {
  return { name, dtype: 'float32' as const, dims: [...dims] };
}

type Spec = ReturnType<typeof tensor>;
const input = (g: GraphBuilder, { name, dims }: Spec): Value => g.input(name, 'float32', dims);
const finish = (g: GraphBuilder, outputs: readonly (readonly [Spec, Value])[]): Uint8Array => {
  for (const [{ name, dims }, value] of outputs) g.output(name, value, 'float32', dims);
  return encodeModel(g.build());
};

/** Reports only the number of the step, not the sound: step / 1500. */
export function whisperModel(): Uint8Array {
  const g = new GraphBuilder('steps');
  const silence = g.op('Mul', [g.op('ReduceMean', [input(g, TENSORS.mel)], { keepdims: 0 }), 0]);
  const steps = Float32Array.from({ length: STEPS * AUDIO.width }, (_, i) => (i >> 1) / STEPS);
  return finish(g, [[TENSORS.states, g.op('Add', [g.weights([1, STEPS, 1, AUDIO.width], steps), silence])]]);
}

/** Lossless; the second half of the channels must be ignored by callers. */
export function encoderModel(): Uint8Array {
  const g = new GraphBuilder('encoder');
  const mean = g.op('SpaceToDepth', [input(g, TENSORS.image)], { blocksize: BLOCK });
  return finish(g, [[TENSORS.moments, g.op('Concat', [mean, g.op('Sub', [mean, 7])], { axis: 1 })]]);
}

export function decoderModel(): Uint8Array {
  const g = new GraphBuilder('decoder');
  const image = g.op('DepthToSpace', [input(g, TENSORS.latent)], { blocksize: BLOCK });
  return finish(g, [[TENSORS.image, image]]);
}

/** Remembers the whole latent. */
function referenceModel(): Uint8Array {
  const g = new GraphBuilder('reference');
  const latent = input(g, TENSORS.latent);
  const flat = g.op('Reshape', [latent, g.ints([-1, LATENT.channels, TOKENS])]);
  const tokens = g.op('Transpose', [flat], { perm: [0, 2, 1] });
  const mean = g.op('ReduceMean', [flat, g.ints([1, 2])], { keepdims: 1 });
  return finish(g, [
    [TENSORS.bank_0, tokens],
    [TENSORS.bank_1, mean],
  ]);
}

/**
 * The v that leads a sampler of this schedule exactly to a target, whatever the noise: v = (√a · x − x₀) / √(1−a). It
 * compensates guidance by `scale`: the conditional network aims at target / scale, the unconditional one at zero.
 */
function denoisingModel(conditional: boolean, scale: number): Uint8Array {
  const g = new GraphBuilder(conditional ? 'conditional' : 'unconditional');
  const latent = input(g, TENSORS.window);
  const timestep = g.input('timestep', 'int64', [1]);
  const audio = input(g, TENSORS.audio);
  const perFrame = (value: Value): Value => g.op('Reshape', [value, g.ints([1, 1, WINDOW, 1, 1])]);
  const heard = perFrame(g.op('ReduceMean', [audio, g.ints([2, 3])], { keepdims: 0 }));
  const all = createDdim({ ...SCHEDULE, steps: Array.from({ length: 1000 }, (_, i) => 999 - i) }).alphas;
  const table = (of: (alpha: number) => number): Value =>
    g.op('Gather', [g.weights([1000], [...all].reverse().map(of)), timestep]);
  const noise = g.op('Mul', [latent, table((alpha) => Math.sqrt(alpha / (1 - alpha)))]);
  // Any sound that reached the unconditional network would show in the result.
  const target = conditional ? g.op('Mul', [seen(g, heard, perFrame), 1 / scale]) : g.op('Mul', [heard, 9]);
  const clean = g.op('Mul', [target, table((alpha) => 1 / Math.sqrt(1 - alpha))]);
  return finish(g, [[TENSORS.prediction, g.op('Sub', [noise, clean])]]);
}

/** The target: the banks' content plus shares of the audio and the landmarks. */
function seen(g: GraphBuilder, heard: Value, perFrame: (value: Value) => Value): Value {
  const tokens = g.input('tokens', 'float32', [WINDOW, TOKENS, LATENT.channels]);
  const mean = g.input('mean', 'float32', [WINDOW, 1, 1]);
  const landmarks = input(g, TENSORS.landmarks);
  const unnoticed = g.op('Mul', [perFrame(mean), 0]);
  const planes = g.op(
    'Transpose',
    [g.op('Reshape', [tokens, g.ints([1, WINDOW, TOKENS, LATENT.channels])])],
    {
      perm: [0, 3, 1, 2],
    },
  );
  const reference = g.op('Reshape', [planes, g.ints([...LATENTS])]);
  const place = perFrame(g.op('ReduceMean', [landmarks, g.ints([2, 3])], { keepdims: 0 }));
  const parts: [Value, number][] = [
    [reference, SHARES.reference],
    [heard, SHARES.audio],
    [place, SHARES.landmarks],
  ];
  return parts.reduce((sum, [part, share]) => g.op('Add', [sum, g.op('Mul', [part, share])]), unnoticed);
}
