import { type ClipInput, type FaceEncoder } from '../engine';
import { createInOrder } from '../in-order';
import { type CutFaces } from './cut-faces';
import { type FaceFeatures } from './face-features';
import { createFeatureRecords } from './feature-records';
import { type FaceAt } from './source-faces';

export interface MusetalkEncoderParts {
  readonly batchSize: number;
  readonly faceAt: FaceAt;
  readonly faceFeatures: FaceFeatures;
}

/** One batch is computed and one waits, while frames for the next are decoded. */
const BATCHES_IN_FLIGHT = 2;

/** Computes the features that are not stored yet for every face of a video, for a preparation. */
export function createMusetalkEncoder(
  { format, features }: Pick<ClipInput, 'format' | 'features'>,
  { batchSize, faceAt, faceFeatures }: MusetalkEncoderParts,
): FaceEncoder {
  const records = createFeatureRecords(features, faceFeatures);
  const cutFace = faceFeatures.cutter(format);
  const computing = createInOrder<void>(BATCHES_IN_FLIGHT, () => undefined);
  let cut: CutFaces | undefined;
  let sources: number[] = [];

  const compute = async (faces: CutFaces, sourceIndices: readonly number[]): Promise<void> => {
    const latents = new Float32Array(batchSize * faceFeatures.latentValues);
    const masks = new Float32Array(batchSize * faceFeatures.maskValues);
    await faceFeatures.compute(faces, latents, masks);
    sourceIndices.forEach((sourceIndex, slot) => records.write(sourceIndex, slot, latents, masks));
  };
  const send = async (): Promise<void> => {
    const [faces, sourceIndices] = [cut, sources];
    cut = undefined;
    sources = [];
    if (faces) await computing.add(() => compute(faces, sourceIndices));
  };

  return {
    async add(frame, sourceIndex) {
      const face = faceAt(sourceIndex);
      if (face === null || features.has(sourceIndex)) return;
      cut ??= faceFeatures.newCut();
      cutFace(frame, face, cut, sources.length, true);
      if (sources.push(sourceIndex) === batchSize) await send();
    },
    async flush() {
      await send();
      await computing.finish();
    },
  };
}
