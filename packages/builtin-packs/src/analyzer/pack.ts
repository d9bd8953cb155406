import { dirname, join } from 'node:path';
import { type AnalyzerManifest, landmarksRole, type Pack, writePack } from '@lipsync/engines';
import { encodeModel, modelFile } from '@lipsync/model-pack';
import {
  DETECTOR_MODEL,
  DETECTOR_STRIDE,
  LANDMARK_INPUT_SIZE,
  LANDMARK_MODEL,
  landmarkNet,
  tinyFaceDetector,
} from './networks';
import { readWeights, type Weights } from './weight-file';

/** Where the npm package with the weights is installed. */
const faceApiModels = (): string =>
  join(dirname(require.resolve('@vladmandic/face-api/package.json')), 'model');

/** The weights of a network of the built-in pack. Rejects with PackError if they are not as expected. */
export const faceApiWeights = (network: 'detector' | 'landmarks', dir = faceApiModels()): Promise<Weights> =>
  readWeights(dir, network === 'detector' ? DETECTOR_MODEL : LANDMARK_MODEL);

/**
 * Writes the face analyzer pack: the detector and landmark networks of face-api, converted from its weight files to
 * ONNX. Needs only the installed npm package. Rejects with PackError if the weights are not as expected.
 */
export async function buildAnalyzerPack(outDir: string): Promise<Pack> {
  const detector = encodeModel(tinyFaceDetector(await faceApiWeights('detector')));
  const landmarks = encodeModel(landmarkNet(await faceApiWeights('landmarks')));
  const models = { 'face-detector.onnx': detector, 'landmarks68.onnx': landmarks };
  return writePack(outDir, analyzerManifest(detector, landmarks), models);
}

/** The expected means are those of the original implementation for uniform gray. */
function analyzerManifest(detector: Uint8Array, landmarks: Uint8Array): AnalyzerManifest {
  return {
    format: 1,
    engine: 'analyzer',
    name: 'builtin-face-api-68',
    version: '1.0.0',
    licence: { spdx: 'MIT', source: 'npm @vladmandic/face-api 1.7.15, after justadudewhohacks/face-api.js' },
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
