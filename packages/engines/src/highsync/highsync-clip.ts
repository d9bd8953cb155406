import { type Box, createPasteFace } from '@lipsync/kernels';
import { type ClipInput, type EngineClip } from '../engine';
import { cutRuns, type Run } from '../face/connected-runs';
import { allOf } from '../in-order';
import { type BatchParts, WantedFaces } from './face-batch';
import { type HighsyncFaces } from './highsync-faces';
import { type HighsyncParams } from './highsync-params';
import { highsyncRuns } from './highsync-runs';
import { rectangleBlendMask } from './mask';
import { createStretchQueue } from './stretch-queue';

/** Number of frames that are pasted together while the next ones are decoded. */
const BATCH_SIZE = 4;

type Floats = Float32Array<ArrayBuffer>;

export interface HighsyncClip extends EngineClip {
  newBatch(): WantedFaces;
}

export interface HighsyncClipParts {
  readonly params: HighsyncParams;
  readonly faces: HighsyncFaces;
  /** Clean latents [frames, C, h, w] of the output frames of one run. */
  denoise(outputs: Run, signal: AbortSignal): Promise<Float32Array>;
  /** Decodes the latent at `offset` to a picture [3, side, side]. */
  decode(latents: Float32Array, offset: number): Promise<Floats>;
  /** Returns an image of `decode` for reuse. */
  give(image: Floats): void;
  close(): Promise<void>;
}

/**
 * Divides the output into stretches. Each is denoised when its first face is needed, or earlier, and its faces are
 * decoded a few at a time. Frames outside every stretch are left alone.
 */
export function createHighsyncClip(
  { track, sources, format, signal }: Pick<ClipInput, 'track' | 'sources' | 'format' | 'signal'>,
  parts: HighsyncClipParts,
): HighsyncClip {
  const { params, faces } = parts;
  const { latent, mask, resolution: side } = params;
  const latentSize = latent.channels * latent.height * latent.width;
  const stretches = cutRuns(highsyncRuns(sources, faces, track), params.stretch);
  const stretchAt = (number: number): Run => {
    const stretch = stretches[number];
    if (!stretch) throw new RangeError(`there is no stretch ${number}`);
    return stretch;
  };
  const numbers = new Int32Array(sources.length).fill(-1);
  stretches.forEach(({ start, end }, number) => numbers.fill(number, start, end));
  const queue = createStretchQueue(
    stretches.length,
    (number, stopped) => parts.denoise(stretchAt(number), stopped),
    signal,
  );
  const cropOf = (output: number): Box => {
    const { crops } = faces;
    const at = (sources[output] ?? -1) * 4;
    return { x1: crops[at] ?? 0, y1: crops[at + 1] ?? 0, x2: crops[at + 2] ?? 0, y2: crops[at + 3] ?? 0 };
  };
  const blendMask = rectangleBlendMask(mask, latent);
  const pasteFace = createPasteFace(format, side);
  const batchParts: BatchParts = {
    stretchOf: (output) => numbers[output] ?? -1,
    async generate(stretch, outputs) {
      const latents = await queue.want(stretch);
      const { start } = stretchAt(stretch);
      return allOf(outputs.map((output) => parts.decode(latents, (output - start) * latentSize)));
    },
    paste: (frame, output, image) => pasteFace(frame, cropOf(output), image, 0, blendMask),
    give: (image) => parts.give(image),
  };

  return {
    batchSize: BATCH_SIZE,
    newBatch: () => new WantedFaces(BATCH_SIZE, batchParts),

    enlargement(output) {
      const { x1, y1, x2, y2 } = cropOf(output);
      return Math.max(x2 - x1, y2 - y1) / side;
    },

    async close() {
      await queue.close();
      await parts.close();
    },
  };
}
