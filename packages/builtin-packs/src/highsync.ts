import {
  type HighsyncParams,
  type Pack,
  type ScheduleParams,
  WINDOW_STEPS,
  writePack,
} from '@lipsync/engines';
import { encodeModel, floatTensor, GraphBuilder, modelFile, type Value } from '@lipsync/model-pack';
import { autoencoder, BLOCK, LATENT_CHANNELS } from './autoencoder';
import { audioEncoderModel, audioRole, LICENSE, STATES, WIDTH } from './hearing/audio-encoder';
import { drawMouth } from './mouth/draw-mouth';
import { EXEMPLAR_FILL, EXEMPLAR_TENSORS, exemplarInputs } from './mouth/exemplars';
import { mouthPose } from './mouth/mouth-pose';
import { isLate, predict, predictionFactors } from './prediction';

const REFERENCE = 'reference-unet.onnx';
const CONDITIONAL = 'denoising-unet.onnx';
const UNCONDITIONAL = 'denoising-unet-unconditional.onnx';

/**
 * Writes the built-in reference pack for the highsync engine: graphs made of formulas, except for hearing, with
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
  const inputs = {
    latent: floatTensor('latent', WINDOW_SHAPE),
    timestep: { name: 'timestep', dtype: 'int64' as const, dims: [1] },
    audio: floatTensor('audio', [1, WINDOW, WINDOW_STEPS * STATES, WIDTH]),
  };
  const outputs = { prediction: floatTensor('prediction', WINDOW_SHAPE) };
  return writePack(
    dir,
    {
      format: 1,
      engine: 'highsync',
      name: 'builtin-highsync',
      version: '1.1.0',
      license: LICENSE,
      providers: ['cpu'],
      roles: {
        whisper_encoder: audioRole('whisper-encoder.onnx', models['whisper-encoder.onnx']),
        ...codecRoles,
        reference_unet: {
          ...modelFile(REFERENCE, models[REFERENCE]),
          inputs: { latent: floatTensor('latent', ['frames', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]) },
          outputs: { bank_0: floatTensor('bank_0', ['frames', ...BANK_SHAPE]) },
          probe: { dims: { frames: 2 }, fill: { latent: 0.1 }, means: { bank_0: 0.1 }, tolerance: 1e-6 },
        },
        denoising_unet: {
          ...modelFile(CONDITIONAL, models[CONDITIONAL]),
          inputs: {
            ...inputs,
            bank_0: floatTensor('bank_0', [WINDOW, ...BANK_SHAPE]),
            landmarks: floatTensor('landmarks', [1, WINDOW, 68, 2], [0, RESOLUTION]),
            ...EXEMPLAR_TENSORS,
          },
          outputs,
          probe: probe(
            { bank_0: BANK, audio: 0.5, landmarks: RESOLUTION / 2, ...EXEMPLAR_FILL },
            BANK / GUIDANCE,
            MASKED_SHARE,
          ),
        },
        denoising_unet_unconditional: {
          ...modelFile(UNCONDITIONAL, models[UNCONDITIONAL]),
          inputs,
          outputs,
          probe: probe({}, 0, 1),
        },
      },
      params: {
        resolution: RESOLUTION,
        interpolation: 'lanczos',
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

/**
 * Landmarks that all lie in one point mean no face: the clean latent must be that of the bank unchanged. `share` of the
 * cells are predicted, the others are 0.
 */
function probe(fill: Readonly<Record<string, number>>, clean: number, share: number) {
  const [latent, timestep] = [0.1, 249];
  const factors = predictionFactors(SCHEDULE);
  const prediction = (factors.noisy[timestep] ?? NaN) * latent + (factors.clean[timestep] ?? NaN) * clean;
  return {
    dims: {},
    fill: { latent, timestep, ...fill },
    means: { prediction: share * prediction },
    tolerance: 1e-4,
  };
}

/**
 * Side of the face crop, pixels. Somewhat less than the official 512, because a CPU computes every cell at every step;
 * a face fills four fifths of the crop, so those of up to 450 pixels stay sharp.
 */
export const RESOLUTION = 448;
export const WINDOW = 12;
const OVERLAP = 3;
export const GUIDANCE = 3.5;
const SEED = 42;
/** Frames by which denoising advances at a time: with those that its four steps are spread over, 360 MiB of latents. */
const STRETCH = 24;

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

/** The generated rectangle in a latent of 56×56 cells: that of saeed5959/high_sync, masks/mask_64, rounded outwards. */
export const MASK: HighsyncParams['mask'] = { top: 24, bottom: 52, left: 4, right: 51 };

/** Only the masked region can change. */
const GENERATED = { top: MASK.top, bottom: MASK.bottom + 1, left: MASK.left, right: MASK.right + 1 };

/** Noisy latent, timestep and audio, as inputs of both networks. */
function inputs(g: GraphBuilder): { latent: Value; timestep: Value; audio: Value } {
  return {
    latent: g.input('latent', 'float32', WINDOW_SHAPE),
    timestep: g.input('timestep', 'int64', [1]),
    audio: g.input('audio', 'float32', [1, WINDOW, WINDOW_STEPS * STATES, WIDTH]),
  };
}

function output(g: GraphBuilder, prediction: Value): void {
  g.output('prediction', prediction, 'float32', WINDOW_SHAPE);
}

/**
 * Noisy latents of a window, timestep, audio windows, bank, landmarks and exemplars → v. Early the clean latents are 0.
 * Late they are, in the masked region, those of the bank with the mouth that the audio calls for.
 */
export function denoisingUnetModel(schedule: ScheduleParams, guidance: number): Uint8Array {
  const g = new GraphBuilder('velocity_of_audio_driven_lips');
  const { latent, timestep, audio } = inputs(g);
  const bank = g.input('bank_0', 'float32', [WINDOW, ...BANK_SHAPE]);
  const landmarks = g.input('landmarks', 'float32', [1, WINDOW, 68, 2]);
  const faces = { landmarks: g.op('Squeeze', [landmarks, g.ints([0])]), ...exemplarInputs(g) };

  const prediction = predict(g, timestep, predictionFactors(schedule), guidance);
  const late = (): Value => {
    const drawn = drawMouth(g, bank, faces, mouthPose(g, audio, 'none'), GENERATED);
    const film = g.op('Unsqueeze', [g.op('Transpose', [drawn], { perm: [1, 0, 2, 3] }), g.ints([0])]);
    const region = g.op('Add', [prediction.ofNoisy(generated(g, latent, 3)), prediction.ofClean(film)]);
    const { top, bottom, left, right } = GENERATED;
    const around = g.ints([0, 0, 0, top, left, 0, 0, 0, LATENT_SIDE - bottom, LATENT_SIDE - right]);
    return g.op('Pad', [region, around]);
  };
  const result = { dtype: 'float32' as const, dims: WINDOW_SHAPE };
  const early = (): Value => prediction.ofNoisy(latent);
  output(g, g.choose(isLate(g, timestep, schedule), result, late, early));
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
const WINDOW_SHAPE = [1, LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE];
/** What is remembered of a frame: the masked region of its latent. */
export const BANK_SHAPE = [
  LATENT_CHANNELS,
  GENERATED.bottom - GENERATED.top,
  GENERATED.right - GENERATED.left,
] as const;

const MASKED_SHARE = (BANK_SHAPE[1] * BANK_SHAPE[2]) / LATENT_SIDE ** 2;

/** Latents of frames → one bank. The formulas need to remember only the picture where they change it. */
export function referenceUnetModel(): Uint8Array {
  const g = new GraphBuilder('masked_region');
  const latent = g.input('latent', 'float32', ['frames', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]);
  g.output('bank_0', generated(g, latent, 2), 'float32', ['frames', ...BANK_SHAPE]);
  return encodeModel(g.build());
}

/** The masked region of latents whose rows are along `axis`. */
function generated(g: GraphBuilder, latents: Value, axis: number): Value {
  const { top, bottom, left, right } = GENERATED;
  return g.op('Slice', [latents, g.ints([top, left]), g.ints([bottom, right]), g.ints([axis, axis + 1])]);
}
