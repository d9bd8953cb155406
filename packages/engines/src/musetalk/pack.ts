import { encodeModel, GraphBuilder, modelFile } from '@lipsync/model-pack';
import { floatTensor } from '../builtin/arithmetic';
import { autoencoder, BLOCK, LATENT_CHANNELS } from '../builtin/autoencoder';
import { drawMouth } from '../builtin/draw-mouth';
import { mouthPose } from '../builtin/mouth-shape';
import { audioEncoderModel, audioRole, LICENCE, STATES, WIDTH } from '../builtin/speech';
import { type Pack, writePack } from '../packs';
import { WINDOW_STEPS } from '../speech/windows';

/**
 * Writes the built-in reference pack for the musetalk engine: graphs made of formulas instead of learned weights, with
 * the roles, tensors and dataflow of the official ones.
 */
export async function writeMusetalkPack(dir: string): Promise<Pack> {
  const { models: codecModels, roles: codecRoles, latent } = autoencoder(RESOLUTION);
  const models = {
    ...codecModels,
    'whisper-encoder.onnx': audioEncoderModel(),
    'unet.onnx': generatorModel(),
  };
  return writePack(
    dir,
    {
      format: 1,
      engine: 'musetalk',
      name: 'builtin-musetalk',
      version: '1.1.0',
      licence: LICENCE,
      providers: ['cpu'],
      roles: {
        whisper_encoder: audioRole('whisper-encoder.onnx', models['whisper-encoder.onnx']),
        ...codecRoles,
        unet: {
          ...modelFile('unet.onnx', models['unet.onnx']),
          inputs: {
            latent: floatTensor('latent', ['batch', 2 * LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
            timestep: { name: 'timestep', dtype: 'int64', dims: [1] },
            audio: floatTensor('audio', ['batch', WINDOW_STEPS * STATES, WIDTH]),
            landmarks: floatTensor('landmarks', ['batch', 68, 2], [0, RESOLUTION]),
          },
          outputs: {
            latent: floatTensor('clean', ['batch', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
          },
          // Landmarks that all lie in one point mean no face: the picture must pass unchanged.
          probe: {
            dims: { batch: 1 },
            fill: { latent: 0.1, audio: 0.5, landmarks: 128 },
            means: { latent: 0.1 },
            tolerance: 1e-4,
          },
        },
      },
      params: {
        resolution: RESOLUTION,
        latent,
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

/** Side of the face crop, pixels. */
const RESOLUTION = 256;
const LATENT_SIDE = RESOLUTION / BLOCK;
const HALF = LATENT_SIDE / 2;
/** The generated part of the crop: everything below the middle. */
const LOWER_HALF = { top: HALF, bottom: LATENT_SIDE, left: 0, right: LATENT_SIDE };

/**
 * Latents of the masked and of the whole crop, timestep, audio window and landmarks → clean latent: the upper half
 * unchanged, the lower half redrawn with the mouth that the audio calls for.
 */
export function generatorModel(): Uint8Array {
  const g = new GraphBuilder('audio_driven_lips');
  const latent = g.input('latent', 'float32', ['batch', 2 * LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]);
  g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', ['batch', WINDOW_STEPS * STATES, WIDTH]);
  const landmarks = g.input('landmarks', 'float32', ['batch', 68, 2]);

  const part = (channel: number, row: number) =>
    g.op('Slice', [
      latent,
      g.ints([channel, row]),
      g.ints([channel + LATENT_CHANNELS, row + HALF]),
      g.ints([1, 2]),
    ]);
  const upper = part(0, 0);
  const reference = part(LATENT_CHANNELS, HALF);
  const lower = drawMouth(g, reference, landmarks, mouthPose(g, audio, 'added'), LOWER_HALF);
  g.output('clean', g.op('Concat', [upper, lower], { axis: 2 }), 'float32', [
    'batch',
    LATENT_CHANNELS,
    LATENT_SIDE,
    LATENT_SIDE,
  ]);
  return encodeModel(g.build());
}
