import { type AnalyzerParams, float32Of, type RunModel, type Tensor } from '@lipsync/engines';
import { type Box, createPatchSampler, type Patch, type RgbPicture } from '@lipsync/kernels';
import { overlap } from './face-geometry';

export interface Detection {
  readonly box: Box;
  /** Confidence, 0..1. */
  readonly score: number;
}

export type FaceDetector = ReturnType<typeof createFaceDetector>;

export function createFaceDetector(run: RunModel, params: AnalyzerParams['detector']) {
  const { stride, scoreThreshold, overlapThreshold, closeUp } = params;
  const samplePatch = createPatchSampler();

  async function look(input: InputPicture, threshold: number): Promise<Detection[]> {
    const { outputs } = await run('face_detector', { image: pictureTensor(input) });
    const detections = confident(float32Of(outputs, 'boxes'), float32Of(outputs, 'scores'), threshold);
    return withoutDuplicates(detections, overlapThreshold);
  }

  return {
    /** Faces in a whole frame, most confident first, in pixels of the picture. `inputSize` is the longer input side. */
    async detect(picture: RgbPicture, inputSize: number): Promise<Detection[]> {
      const scale = inputSize / Math.max(picture.width, picture.height);
      const width = Math.ceil((picture.width * scale) / stride) * stride;
      const height = Math.ceil((picture.height * scale) / stride) * stride;
      const input = blankPicture(width, height);
      // The picture lies at the input's top left; the rest, at the right and the bottom, stays black.
      samplePatch(
        picture,
        { x: width / scale / 2, y: height / scale / 2, side: width / scale, angle: 0 },
        input,
      );
      return (await look(input, scoreThreshold)).map(({ score, box: { x1, y1, x2, y2 } }) => ({
        score,
        box: { x1: x1 / scale, y1: y1 / scale, x2: x2 / scale, y2: y2 / scale },
      }));
    },

    /** Confidence that a face is in the middle of an upright, generously framed patch. */
    async closeUpScore(picture: RgbPicture, patch: Patch): Promise<number> {
      const input = blankPicture(closeUp.inputSize, closeUp.inputSize);
      samplePatch(picture, patch, input);
      const middle = closeUp.inputSize / 2;
      const central = (await look(input, 0)).filter(
        ({ box }) => box.x1 < middle && middle < box.x2 && box.y1 < middle && middle < box.y2,
      );
      return central[0]?.score ?? 0;
    },
  };
}

function confident(boxes: Float32Array, scores: Float32Array, threshold: number): Detection[] {
  const detections: Detection[] = [];
  scores.forEach((score, i) => {
    if (score < threshold) return;
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = boxes.subarray(i * 4, i * 4 + 4);
    detections.push({ score, box: { x1, y1, x2, y2 } });
  });
  return detections.sort((a, b) => b.score - a.score);
}

/** Keeps the most confident box of every group of overlapping boxes. */
function withoutDuplicates(detections: readonly Detection[], overlapThreshold: number): Detection[] {
  const kept: Detection[] = [];
  for (const detection of detections) {
    if (kept.every(({ box }) => overlap(box, detection.box) <= overlapThreshold)) kept.push(detection);
  }
  return kept;
}

/** A network input in preparation: packed RGB pixels that can be passed to a graph. */
interface InputPicture extends RgbPicture {
  readonly data: Uint8Array<ArrayBuffer>;
}

export function blankPicture(width: number, height: number): InputPicture {
  return { width, height, data: new Uint8Array(width * height * 3) };
}

/** One picture as a batch of one: [1, height, width, 3]. */
function pictureTensor({ width, height, data }: InputPicture): Tensor {
  return { type: 'uint8', dims: [1, height, width, 3], data };
}
