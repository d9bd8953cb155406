import {
  createPasteFace,
  cutRuns,
  type HighsyncFaces,
  highsyncRuns,
  rectangleBlendMask,
  type Run,
} from '@lipsync/lipsync';
import { type HighsyncParams } from '@lipsync/model-pack';
import { type ClipInput, type EngineClip } from '../engine';
import { DecodedFaces, WantedFaces } from './face-batch';
import { allOf } from '../in-order';
import { createStretchQueue } from './stretch-queue';

/** Frames whose pictures are decoded and pasted while the next ones are being decoded. */
const BATCH_SIZE = 4;

type Floats = Float32Array<ArrayBuffer>;

export interface HighsyncClipParts {
  readonly params: HighsyncParams;
  readonly faces: HighsyncFaces;
  /** Clean latents [frames, C, h, w] of output frames of one run. */
  denoise(outputs: Run, signal: AbortSignal): Promise<Float32Array>;
  /** The picture [3, side, side] of the latent that lies at `offset`. */
  decode(latents: Float32Array, offset: number): Promise<Floats>;
  /** Takes back what `decode` answered. */
  give(image: Floats): void;
  close(): Promise<void>;
}

/**
 * The output in stretches, each of which is denoised when its first face is wanted, or before; faces are decoded from
 * it a few at a time. Frames outside every stretch are left alone.
 */
export function createHighsyncClip(
  { track, sources, format, signal }: Pick<ClipInput, 'track' | 'sources' | 'format' | 'signal'>,
  parts: HighsyncClipParts,
): EngineClip {
  const { params, faces } = parts;
  const { latent, mask, resolution: side } = params;
  const latentSize = latent.channels * latent.height * latent.width;
  const stretches = cutRuns(highsyncRuns(sources, faces, track), params.stretch);
  const stretchOf = new Int32Array(sources.length).fill(-1);
  stretches.forEach(({ start, end }, number) => stretchOf.fill(number, start, end));
  const stretchAt = (number: number): Run => {
    const stretch = stretches[number];
    if (!stretch) throw new RangeError(`there is no stretch ${number}`);
    return stretch;
  };
  const queue = createStretchQueue(
    stretches.length,
    (number, stopped) => parts.denoise(stretchAt(number), stopped),
    signal,
  );
  const blendMask = rectangleBlendMask(mask, latent);
  const pasteFace = createPasteFace(format, side);

  return {
    batchSize: BATCH_SIZE,
    newBatch: () => new WantedFaces(BATCH_SIZE),
    joins(batch, outputIndex) {
      const stretch = stretchOf[outputIndex] ?? -1;
      return stretch < 0 || stretch === expectBatch(batch).stretch;
    },

    take(batch, _frame, outputIndex) {
      const wanted = expectBatch(batch);
      const stretch = stretchOf[outputIndex] ?? -1;
      if (stretch < 0) return null;
      if (wanted.size >= wanted.capacity) throw new RangeError('the batch is full');
      wanted.stretch ??= stretch;
      if (wanted.stretch !== stretch) throw new RangeError('the batch is of another stretch');
      return wanted.outputs.push(outputIndex) - 1;
    },

    enlargement(outputIndex) {
      const { crops } = faces;
      const at = (sources[outputIndex] ?? -1) * 4;
      const width = (crops[at + 2] ?? 0) - (crops[at] ?? 0);
      const height = (crops[at + 3] ?? 0) - (crops[at + 1] ?? 0);
      return Math.max(width, height) / side;
    },

    async infer(batch) {
      const { outputs, stretch } = expectBatch(batch);
      if (stretch === undefined) return new DecodedFaces([], []);
      const latents = await queue.want(stretch);
      const { start } = stretchAt(stretch);
      return new DecodedFaces(
        outputs,
        await allOf(outputs.map((output) => parts.decode(latents, (output - start) * latentSize))),
      );
    },

    put(generated, slot, frame) {
      const { outputs, images } = expectFaces(generated);
      const image = images[slot];
      if (image === undefined) throw new RangeError(`slot ${slot} holds no face`);
      const source = sources[outputs[slot] ?? -1] ?? -1;
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = faces.crops.subarray(source * 4, source * 4 + 4);
      pasteFace(frame, { x1, y1, x2, y2 }, image, 0, blendMask);
    },

    recycle: (generated) => expectFaces(generated).images.forEach((image) => parts.give(image)),

    async close() {
      await queue.close();
      await parts.close();
    },
  };
}

function expectBatch(batch: unknown): WantedFaces {
  if (batch instanceof WantedFaces) return batch;
  throw new TypeError('this batch belongs to another engine');
}

function expectFaces(faces: unknown): DecodedFaces {
  if (faces instanceof DecodedFaces) return faces;
  throw new TypeError('these faces belong to another engine');
}
