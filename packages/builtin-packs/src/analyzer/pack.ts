import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type AnalyzerManifest,
  CUES,
  HAND_PATCH_SIDE,
  landmarksRole,
  MEL_BANDS,
  type Pack,
  PALM_PICTURE_SIDE,
  SEGMENT_FRAMES,
  VOICE_CONTEXT,
  VOICE_STATE,
  VOICE_STEP,
  writePack,
} from '@lipsync/engines';
import { encodeModel, floatTensor, modelFile, PackError } from '@lipsync/model-pack';
import { hearingModel, STEPS } from '../hearing/audio-encoder';
import { handLandmarks, palmDetector, PALMS, publishedHands } from './hands';
import {
  DETECTOR_MODEL,
  DETECTOR_STRIDE,
  LANDMARK_INPUT_SIZE,
  LANDMARK_MODEL,
  landmarkNet,
  tinyFaceDetector,
} from './networks';
import { sileroVoice } from './silero';
import { readWeights, type Weights } from './weight-file';

/** Where the npm package with the weights is installed. */
const faceApiModels = (): string =>
  join(dirname(require.resolve('@vladmandic/face-api/package.json')), 'model');

/** The weights of a network of the built-in pack. Rejects with PackError if they are not as expected. */
export const faceApiWeights = (network: 'detector' | 'landmarks', dir = faceApiModels()): Promise<Weights> =>
  readWeights(dir, network === 'detector' ? DETECTOR_MODEL : LANDMARK_MODEL);

/** The published network of Silero's detector, v6. Rejects with PackError if it cannot be read. */
export async function publishedSilero(): Promise<Uint8Array> {
  const file = require.resolve('@ricky0123/vad-web/dist/silero_vad_v6.onnx');
  return readFile(file).catch((cause: unknown) => {
    throw new PackError('file_missing', `${file} cannot be read`, { cause });
  });
}

/**
 * Writes the analyzer pack: the detector and landmark networks of face-api, MediaPipe's hand networks and Silero's voice
 * activity detector, converted from the files in their npm packages, and the project's own hearing network. Rejects with
 * PackError if weights are not as expected.
 */
export async function buildAnalyzerPack(outDir: string): Promise<Pack> {
  const detector = encodeModel(tinyFaceDetector(await faceApiWeights('detector')));
  const landmarks = encodeModel(landmarkNet(await faceApiWeights('landmarks')));
  const voice = encodeModel(sileroVoice(await publishedSilero()));
  const hearing = hearingModel();
  const hands = await publishedHands();
  const palms = encodeModel(palmDetector(hands.palms));
  const handPoints = encodeModel(handLandmarks(hands.landmarks));
  return writePack(outDir, analyzerManifest({ detector, landmarks, voice, hearing, palms, handPoints }), {
    'face-detector.onnx': detector,
    'landmarks68.onnx': landmarks,
    'voice.onnx': voice,
    'hearing.onnx': hearing,
    'palm-detector.onnx': palms,
    'hand-landmarks.onnx': handPoints,
  });
}

type TensorSpec = AnalyzerManifest['roles']['palm_detector']['inputs']['image'];

const imageTensor = (side: number): TensorSpec => ({
  name: 'image',
  dtype: 'uint8',
  dims: [1, side, side, 3],
  range: [0, 255],
});

type Models = Readonly<
  Record<'detector' | 'landmarks' | 'voice' | 'hearing' | 'palms' | 'handPoints', Uint8Array>
>;

/** The expected means of the face networks and of `voice` are those of the original implementations. */
function analyzerManifest({
  detector,
  landmarks,
  voice,
  hearing,
  palms,
  handPoints,
}: Models): AnalyzerManifest {
  return {
    format: 1,
    engine: 'analyzer',
    name: 'builtin-face-api-68',
    version: '2.1.0',
    license: {
      spdx: 'MIT AND Apache-2.0',
      source:
        'faces: npm @vladmandic/face-api 1.7.15, after justadudewhohacks/face-api.js; ' +
        'hands: npm @mediapipe/hands 0.4.1675469240; ' +
        'voice: snakers4/silero-vad v6, in npm @ricky0123/vad-web 0.0.31; hearing: trained by this project',
    },
    providers: ['cpu'],
    roles: {
      face_detector: {
        ...modelFile('face-detector.onnx', detector),
        inputs: {
          image: { name: 'image', dtype: 'uint8', dims: [1, 'height', 'width', 3], range: [0, 255] },
        },
        outputs: {
          boxes: { name: 'boxes', dtype: 'float32', dims: ['k', 4] },
          scores: { name: 'scores', dtype: 'float32', dims: ['k'], range: [0, 1] },
        },
        probe: {
          dims: { height: 160, width: 160 },
          fill: { image: 128 },
          means: { boxes: 75.288 },
          tolerance: 0.05,
        },
      },
      landmarks68: {
        ...landmarksRole(landmarks, LANDMARK_INPUT_SIZE),
        probe: { dims: { n: 2 }, fill: { image: 128 }, means: { points: 0.49956 }, tolerance: 0.001 },
      },
      voice: {
        ...modelFile('voice.onnx', voice),
        inputs: {
          sound: floatTensor('sound', ['samples'], [-1, 1]),
          state: floatTensor('state', [...VOICE_STATE]),
        },
        outputs: {
          voice: floatTensor('voice', ['steps'], [0, 1]),
          next: floatTensor('next', [...VOICE_STATE]),
        },
        probe: {
          dims: { samples: VOICE_CONTEXT + 8 * VOICE_STEP },
          fill: { sound: 'wave', state: 0 },
          means: { voice: 0.0009, next: 0.22783 },
          rms: { next: 1.17335 },
          tolerance: 0.005,
        },
      },
      hearing: {
        ...modelFile('hearing.onnx', hearing),
        inputs: { mel: floatTensor('mel', [1, MEL_BANDS, SEGMENT_FRAMES], [-1.5, 1.5]) },
        outputs: { cues: floatTensor('cues', [1, STEPS, CUES.length], [0, 1]) },
        // What sounds the same all the time is no speech.
        probe: { dims: {}, fill: { mel: 0.5 }, means: { cues: 0 }, rms: { cues: 0 }, tolerance: 0.02 },
      },
      palm_detector: {
        ...modelFile('palm-detector.onnx', palms),
        inputs: { image: imageTensor(PALM_PICTURE_SIDE) },
        outputs: {
          palms: floatTensor('palms', [PALMS, 9, 2]),
          scores: floatTensor('scores', [PALMS], [0, 1]),
        },
        probe: {
          dims: {},
          fill: { image: 128 },
          means: { palms: 0.46844, scores: 0.0035 },
          tolerance: 0.002,
        },
      },
      hand_landmarks: {
        ...modelFile('hand-landmarks.onnx', handPoints),
        inputs: { image: imageTensor(HAND_PATCH_SIDE) },
        outputs: {
          points: floatTensor('points', [21, 2]),
          presence: floatTensor('presence', [1], [0, 1]),
        },
        probe: {
          dims: {},
          fill: { image: 128 },
          means: { points: 0.44903, presence: 0.00303 },
          tolerance: 0.002,
        },
      },
    },
    params: {
      // A detector input of 416 finds faces from a sixteenth to half of the frame in about 3 ms. 224 and 320 are for
      // close-ups and for faces cut off by a border, 832 is for smaller faces. The other numbers separate all tracked
      // faces of six test clips from random places of the same frames.
      detector: {
        inputSizes: [416, 224, 320, 832],
        stride: DETECTOR_STRIDE,
        scoreThreshold: 0.3,
        overlapThreshold: 0.4,
        boxScale: 1.2,
        closeUp: { inputSize: 160, scale: 1.8, scoreThreshold: 0.15, sureScore: 0.6 },
      },
      landmarks: {
        inputSize: LANDMARK_INPUT_SIZE,
        scale: 1.2,
        maxDisagreement: 0.03,
        maxDisagreementBlurred: 0.045,
      },
    },
  };
}
