import { encodeModel, GraphBuilder, modelFile, type Value } from '@lipsync/model-pack';
import { floatTensor } from '../builtin/arithmetic';
import { autoencoder, BLOCK, LATENT_CHANNELS } from '../builtin/autoencoder';
import { redrawRegion } from '../builtin/draw-mouth';
import { mouthPose } from '../builtin/mouth-shape';
import { predict, predictionFactors } from '../builtin/prediction';
import { audioEncoderModel, audioRole, LICENCE, STATES, WIDTH } from '../builtin/speech';
import { type ScheduleParams } from '../diffusion/ddim';
import { type Pack, writePack } from '../packs';
import { WINDOW_STEPS } from '../speech/windows';
import { type HighsyncParams } from './manifest';

const REFERENCE = 'reference-unet.onnx';
const CONDITIONAL = 'denoising-unet.onnx';
const UNCONDITIONAL = 'denoising-unet-unconditional.onnx';

/**
 * Writes the built-in reference pack for the highsync engine: graphs made of formulas instead of learned weights, with
 * the roles, the dataflow and the schedule of the official ones.
 */
export async function writeHighsyncPack(dir: string): Promise<Pack> {
  const { models: codecModels, roles: codecRoles, latent } = autoencoder(RESOLUTION);
  const models = {
    ...codecModels,
    'whisper-encoder.onnx': audioEncoderModel(),
    [REFERENCE]: referenceUnetModel(),
    [CONDITIONAL]: denoisingUnetModel(SCHEDULE, GUIDANCE),
    [UNCONDITIONAL]: unconditionalUnetModel(SCHEDULE),
  };
  const window = [1, LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE];
  const inputs = {
    latent: floatTensor('latent', window),
    timestep: { name: 'timestep', dtype: 'int64' as const, dims: [1] },
    audio: floatTensor('audio', [1, WINDOW, WINDOW_STEPS * STATES, WIDTH]),
  };
  const outputs = { prediction: floatTensor('prediction', window) };
  return writePack(
    dir,
    {
      format: 1,
      engine: 'highsync',
      name: 'builtin-highsync',
      version: '1.0.0',
      licence: LICENCE,
      providers: ['cpu'],
      roles: {
        whisper_encoder: audioRole('whisper-encoder.onnx', models['whisper-encoder.onnx']),
        ...codecRoles,
        reference_unet: {
          ...modelFile(REFERENCE, models[REFERENCE]),
          inputs: { latent: floatTensor('latent', ['frames', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]) },
          outputs: { bank_0: floatTensor('bank_0', ['frames', TOKENS, LATENT_CHANNELS]) },
          probe: { dims: { frames: 2 }, fill: { latent: 0.1 }, means: { bank_0: 0.1 }, tolerance: 1e-6 },
        },
        denoising_unet: {
          ...modelFile(CONDITIONAL, models[CONDITIONAL]),
          inputs: {
            ...inputs,
            bank_0: floatTensor('bank_0', [WINDOW, TOKENS, LATENT_CHANNELS]),
            landmarks: floatTensor('landmarks', [1, WINDOW, 68, 2], [0, RESOLUTION]),
          },
          outputs,
          probe: probe({ bank_0: BANK, audio: 0.5, landmarks: RESOLUTION / 2 }, BANK / GUIDANCE),
        },
        denoising_unet_unconditional: {
          ...modelFile(UNCONDITIONAL, models[UNCONDITIONAL]),
          inputs,
          outputs,
          probe: probe({}, 0),
        },
      },
      params: {
        resolution: RESOLUTION,
        latent,
        audio: { whisper: 'openai', states: STATES, width: WIDTH },
        window: WINDOW,
        overlap: OVERLAP,
        schedule: SCHEDULE,
        guidance: GUIDANCE,
        seed: SEED,
        mask: MASK,
        stretch: STRETCH,
      },
    },
    models,
  );
}

const BANK = -0.2;

/** Landmarks that all lie in one point mean no face: the clean latent must be that of the bank unchanged. */
function probe(fill: Readonly<Record<string, number>>, clean: number) {
  const [latent, timestep] = [0.1, 499];
  const factors = predictionFactors(SCHEDULE);
  const prediction = (factors.noisy[timestep] ?? NaN) * latent + (factors.clean[timestep] ?? NaN) * clean;
  return { dims: {}, fill: { latent, timestep, ...fill }, means: { prediction }, tolerance: 1e-4 };
}

/** Side of the face crop, pixels: half of the official 512, because a CPU computes every cell at every step. */
export const RESOLUTION = 256;
export const WINDOW = 12;
const OVERLAP = 3;
export const GUIDANCE = 3.5;
const SEED = 42;
/** Frames that are denoised together: about 200 MiB of latents. */
const STRETCH = 96;

/** The schedule of the official weights (saeed5959/high_sync, configs/inference), except for the number of steps. */
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

/** The generated rectangle in a latent of 32×32 cells (saeed5959/high_sync, masks/mask_32). */
export const MASK: HighsyncParams['mask'] = { top: 14, bottom: 29, left: 3, right: 28 };

/** Only the masked region can change. */
const GENERATED = { top: MASK.top, bottom: MASK.bottom + 1, left: MASK.left, right: MASK.right + 1 };

/** Noisy latent, timestep and audio, as inputs of both networks. */
function inputs(g: GraphBuilder): { latent: Value; timestep: Value; audio: Value } {
  return {
    latent: g.input('latent', 'float32', [1, LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE]),
    timestep: g.input('timestep', 'int64', [1]),
    audio: g.input('audio', 'float32', [1, WINDOW, WINDOW_STEPS * STATES, WIDTH]),
  };
}

function output(g: GraphBuilder, prediction: Value): void {
  g.output('prediction', prediction, 'float32', [1, LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE]);
}

/**
 * Noisy latents of a window, timestep, audio windows, bank and landmarks → v, where the clean latents are those of the
 * bank with the mouth that the audio calls for.
 */
export function denoisingUnetModel(schedule: ScheduleParams, guidance: number): Uint8Array {
  const g = new GraphBuilder('velocity_of_audio_driven_lips');
  const { latent, timestep, audio } = inputs(g);
  const bank = g.input('bank_0', 'float32', [WINDOW, TOKENS, LATENT_CHANNELS]);
  const landmarks = g.input('landmarks', 'float32', [1, WINDOW, 68, 2]);

  const channels = g.op('Transpose', [bank], { perm: [2, 0, 1] });
  const latents = g.op('Reshape', [channels, g.ints([LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE])]);
  const pose = mouthPose(g, audio, 'none');
  const points = g.op('Squeeze', [landmarks, g.ints([0])]);
  const clean = redrawRegion(g, { latents, side: LATENT_SIDE }, points, pose, GENERATED);
  const prediction = predict(g, timestep, predictionFactors(schedule), guidance);
  output(
    g,
    g.op('Add', [prediction.ofNoisy(latent), prediction.ofClean(g.op('Unsqueeze', [clean, g.ints([0])]))]),
  );
  return encodeModel(g.build());
}

/** Noisy latents of a window and timestep → v, where the clean latents are 0. Guidance leads away from this. */
export function unconditionalUnetModel(schedule: ScheduleParams): Uint8Array {
  const g = new GraphBuilder('velocity_of_nothing');
  const { latent, timestep } = inputs(g);
  output(g, predict(g, timestep, predictionFactors(schedule), 1).ofNoisy(latent));
  return encodeModel(g.build());
}

export const LATENT_SIDE = RESOLUTION / BLOCK;
/** One bank token per cell of the latent. */
export const TOKENS = LATENT_SIDE * LATENT_SIDE;

/**
 * Latents of frames → one bank, with every cell of a frame as a token. The formulas need to remember only the picture.
 */
export function referenceUnetModel(): Uint8Array {
  const g = new GraphBuilder('cells_as_tokens');
  const latent = g.input('latent', 'float32', ['frames', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]);
  const rows = g.op('Reshape', [latent, g.ints([-1, LATENT_CHANNELS, TOKENS])]);
  g.output('bank_0', g.op('Transpose', [rows], { perm: [0, 2, 1] }), 'float32', [
    'frames',
    TOKENS,
    LATENT_CHANNELS,
  ]);
  return encodeModel(g.build());
}
