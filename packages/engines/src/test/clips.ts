import { BILINEAR, createCropFace, pictureLayout } from '@lipsync/kernels';
import { type ClipInput, type FrameFeatures, noFeatures } from '../engine';
import { FACE_TRACK_VERSION, type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks';
import { type HighsyncClip } from '../highsync/engine';
import { highsyncFaces } from '../highsync/faces';
import { float32Of, float32Tensor, type RunModel, type Tensors } from '../model';
import { recordingOf } from '../speech/log-mel';
import { LATENT, MASK, SHARES, SIDE, STEPS } from './highsync-pack';

export const FORMAT = { width: 96, height: 96, matrix: 'bt709', range: 'limited' } as const;
const LATENT_SIZE = LATENT.channels * LATENT.height * LATENT.width;

/** A face that stands still in every picture except those in `faceless`. */
export function trackOf(frames: number, faceless: readonly number[] = []): FaceTrack {
  const box = { x1: 26, y1: 22, x2: 70, y2: 72 };
  return syntheticTrack({ ...FORMAT, frames, box, hasFace: (frame) => !faceless.includes(frame) });
}

const { bytes, uOffset } = pictureLayout(FORMAT);
const TEXTURE = Float32Array.from({ length: bytes }, (_, i) =>
  i < uOffset ? 110 + 40 * Math.sin(i / 7) : 110 + 10 * Math.sin(i / 5),
);

/** A picture whose every pixel encodes its source frame. */
export function pictureOf(source: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(TEXTURE, (level) => level + source);
}

/** As many seconds of sound as the output has. */
const soundFor = (sources: readonly number[]): Float32Array =>
  new Float32Array(sources.length * 640).fill(0.1);

/** A clip over such pictures, and a count of how often they were requested a second time. */
export function clipInput(
  track: FaceTrack,
  sources: readonly number[],
  parts: { readonly features?: FrameFeatures; readonly signal?: AbortSignal } = {},
): { input: ClipInput; secondLooks: () => number } {
  let looks = 0;
  const input: ClipInput = {
    track,
    sources,
    audio: recordingOf(soundFor(sources)),
    format: FORMAT,
    features: parts.features ?? noFeatures,
    signal: parts.signal ?? new AbortController().signal,
    openFrames() {
      looks++;
      let next = 0;
      return {
        frameBytes: bytes,
        async readInto(frame) {
          const source = sources[next++];
          if (source === undefined) return false;
          frame.set(pictureOf(source));
          return true;
        },
        close: async () => undefined,
      };
    },
  };
  return { input, secondLooks: () => looks };
}

/** Keeps everything, in memory. */
export function memoryFeatures(values: number): FrameFeatures & { readonly kept: Map<number, Float32Array> } {
  const kept = new Map<number, Float32Array>();
  return {
    kept,
    has: (source) => kept.has(source),
    read: (source, target, offset) => target.set(kept.get(source) ?? [], offset),
    write: (source, from, offset) => kept.set(source, from.slice(offset, offset + values)),
  };
}

/** The generated crop of every output frame, requested as the pipeline would; null where there is no face. */
export async function generate(clip: HighsyncClip, outputs: number): Promise<(Float32Array | null)[]> {
  const images = new Array<Float32Array | null>(outputs).fill(null);
  let batch = clip.newBatch();
  const send = async (): Promise<void> => {
    const faces = await batch.infer();
    faces.outputs.forEach((output, i) => (images[output] = faces.images[i] ?? null));
    batch = clip.newBatch();
  };
  for (let output = 0; output < outputs; output++) {
    if (batch.size > 0 && !batch.joins(output)) await send();
    batch.take(new Uint8Array(0), output);
    if (batch.size === clip.batchSize) await send();
  }
  if (batch.size > 0) await send();
  return images;
}

/**
 * The target of the test pack's networks, per output frame: the crop with the target value inside the mask; nothing for
 * a frame without a face.
 */
export async function expectedImages(
  run: RunModel,
  track: FaceTrack,
  sources: readonly number[],
): Promise<Float32Array[]> {
  const { crops } = highsyncFaces(track);
  const cropFace = createCropFace(FORMAT, SIDE, BILINEAR);
  const dims = [1, LATENT.channels, LATENT.height, LATENT.width];
  const images: Float32Array[] = [];
  for (const [output, source] of sources.entries()) {
    if (track.found[source] !== 1) {
      images.push(new Float32Array(0));
      continue;
    }
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = crops.subarray(source * 4, source * 4 + 4);
    const image = new Float32Array(3 * SIDE * SIDE);
    cropFace(pictureOf(source), { x1, y1, x2, y2 }, image, 0);
    const encoded = await call(
      run,
      'vae_encoder',
      { image: float32Tensor(image, [1, 3, SIDE, SIDE]) },
      'latent',
    );
    const latent = encoded.slice(0, LATENT_SIZE);
    const places = Array.from(track.landmarks.subarray(source * 136, source * 136 + 136), (value, i) =>
      i % 2 === 0 ? ((value - x1) / (x2 - x1)) * SIDE : ((value - y1) / (y2 - y1)) * SIDE,
    );
    const lift = SHARES.audio * heardAt(output, sources.length) + SHARES.landmarks * mean(places);
    latent.forEach((value, i) => {
      const row = Math.floor(i / LATENT.width) % LATENT.height;
      const column = i % LATENT.width;
      const inside = row >= MASK.top && row <= MASK.bottom && column >= MASK.left && column <= MASK.right;
      if (inside) latent[i] = SHARES.reference * value + lift / LATENT.scale;
    });
    images.push(await call(run, 'vae_decoder', { latent: float32Tensor(latent, dims) }, 'image'));
  }
  return images;
}

/** Mean of the steps in an output frame's audio window, repeated at the ends of the sound. */
function heardAt(output: number, outputs: number): number {
  const steps = Array.from({ length: 10 }, (_, place) => 2 * output - 4 + place);
  return mean(steps.map((step) => Math.min(Math.max(step, 0), 2 * outputs - 1) / STEPS));
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

async function call(
  run: RunModel,
  role: string,
  feeds: Tensors,
  output: string,
): Promise<Float32Array<ArrayBuffer>> {
  return float32Of((await run(role, feeds)).outputs, output);
}

interface SyntheticFace {
  readonly frames: number;
  readonly width: number;
  readonly height: number;
  /** Position of the face in pixels. */
  readonly box: { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number };
  /** Default: all frames. */
  readonly hasFace?: (frame: number) => boolean;
}

type Shape = readonly (readonly [x: number, y: number])[];

const arc = (
  count: number,
  from: number,
  to: number,
  at: readonly [number, number],
  size: readonly [number, number],
): Shape =>
  Array.from({ length: count }, (_, i) => {
    const angle = from + ((to - from) * i) / (count - 1);
    return [at[0] + size[0] * Math.cos(angle), at[1] + size[1] * Math.sin(angle)];
  });
const ring = (count: number, at: readonly [number, number], size: readonly [number, number]): Shape =>
  arc(count + 1, Math.PI, 3 * Math.PI, at, size).slice(0, count);

/** The 68 points of an upright face with a closed mouth, in a unit square. */
const FACE: Shape = [
  ...arc(17, Math.PI, 0, [0.5, 0.4], [0.5, 0.55]),
  ...arc(5, Math.PI * 1.2, Math.PI * 1.8, [0.28, 0.22], [0.16, 0.06]),
  ...arc(5, Math.PI * 1.2, Math.PI * 1.8, [0.72, 0.22], [0.16, 0.06]),
  ...Array.from({ length: 4 }, (_, i) => [0.5, 0.3 + i * 0.075] as const),
  ...arc(5, Math.PI * 0.85, Math.PI * 0.15, [0.5, 0.53], [0.12, 0.04]),
  ...ring(6, [0.3, 0.32], [0.09, 0.035]),
  ...ring(6, [0.7, 0.32], [0.09, 0.035]),
  ...ring(12, [0.5, 0.72], [0.17, 0.06]),
  ...ring(8, [0.5, 0.72], [0.13, 0.008]),
];

/** The face track that the analyzer would make for a face that never moves; the pictures need not show one. */
export function syntheticTrack({ frames, width, height, box, hasFace }: SyntheticFace): FaceTrack {
  const found = Uint8Array.from({ length: frames }, (_, frame) => (hasFace?.(frame) === false ? 0 : 1));
  const points = FACE.flatMap(([x, y]) => [box.x1 + x * (box.x2 - box.x1), box.y1 + y * (box.y2 - box.y1)]);
  const landmarks = new Float32Array(frames * LANDMARK_VALUES);
  found.forEach((present, frame) => {
    if (present === 0) return;
    landmarks.set(points, frame * LANDMARK_VALUES);
  });
  return {
    version: FACE_TRACK_VERSION,
    analyzerVersion: 'synthetic@1.0.0',
    fps: 25,
    frames,
    width,
    height,
    found,
    landmarks,
    cuts: Uint8Array.from({ length: frames }, (_, frame) => (frame === 0 ? 1 : 0)),
  };
}
