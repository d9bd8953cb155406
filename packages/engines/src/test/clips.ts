import { type Clock, constantClock, endOf, middleOf } from '@lipsync/domain';
import { pictureLayout } from '@lipsync/kernels';
import {
  type ClipInput,
  type EngineClip,
  type FaceBatch,
  type FrameFeatures,
  type GeneratedFaces,
  noFeatures,
} from '../engine';
import { FACE_TRACK_VERSION, type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks';
import { type Instant } from '../pace';
import { recordingOf, SAMPLE_RATE } from '../speech/log-mel';

export const FORMAT = {
  width: 96,
  height: 96,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
} as const;

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

/** The clock of an output, by default at the rate that the networks were trained at. */
export const clockOf = (sources: readonly number[], fps = 25): Clock =>
  constantClock({ num: fps, den: 1 }, sources.length);

/** As many seconds of sound as the output has. */
const soundFor = (clock: Clock): Float32Array =>
  new Float32Array(Math.round(endOf(clock) * SAMPLE_RATE)).fill(0.1);

/** A clip of an engine that looks at no frame twice; by default with a second of silence. */
export function onceSeenClip(
  parts: Pick<ClipInput, 'track' | 'sources' | 'format'> & Partial<ClipInput>,
): ClipInput {
  return {
    mouths: [],
    audio: recordingOf(new Float32Array(SAMPLE_RATE)),
    clock: clockOf(parts.sources),
    features: noFeatures,
    openFrames() {
      throw new Error('this engine looks at no frame twice');
    },
    signal: new AbortController().signal,
    ...parts,
  };
}

/** A clip over such pictures, and a count of how often they were requested a second time. */
export function clipInput(
  track: FaceTrack,
  sources: readonly number[],
  parts: Partial<Pick<ClipInput, 'clock' | 'features' | 'mouths' | 'signal'>> = {},
): { input: ClipInput; secondLooks: () => number } {
  let looks = 0;
  const clock = parts.clock ?? clockOf(sources);
  const input: ClipInput = {
    track,
    mouths: parts.mouths ?? [],
    sources,
    clock,
    audio: recordingOf(soundFor(clock)),
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

/** The instants of a clip whose every frame is generated. */
export function everyFrame({ sources, clock }: Pick<ClipInput, 'sources' | 'clock'>): Instant[] {
  return sources.map((source, output) => ({ output, source, seconds: middleOf(clock, output), shown: true }));
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

/** A clip that shows the crops which it generates. */
export interface OpenClip extends EngineClip {
  newBatch(): OpenBatch;
}

interface OpenBatch extends FaceBatch {
  infer(): Promise<GeneratedFaces & { image(slot: number): Float32Array }>;
}

interface Generated {
  /** The crop of every output frame; null where there is no face. */
  readonly images: readonly (Float32Array | null)[];
  /** The sizes of the batches in which they were generated. */
  readonly batches: readonly number[];
}

/** Requests every face as the pipeline would. */
export async function generate(clip: OpenClip, sources: readonly number[]): Promise<Generated> {
  const images = new Array<Float32Array | null>(sources.length).fill(null);
  const batches: number[] = [];
  let batch = clip.newBatch();
  let outputs: number[] = [];
  const send = async (): Promise<void> => {
    const faces = await batch.infer();
    // Copies, because the pictures' memory is reused once they are recycled.
    outputs.forEach((output, slot) => (images[output] = faces.image(slot).slice()));
    faces.recycle();
    batches.push(batch.size);
    batch = clip.newBatch();
    outputs = [];
  };
  for (const [output, source] of sources.entries()) {
    if (batch.size > 0 && !batch.joins(output)) await send();
    if (batch.take(pictureOf(source), output) !== null) outputs.push(output);
    if (batch.full) await send();
  }
  if (batch.size > 0) await send();
  return { images, batches };
}

/** The numbers from 0 to `count`, exclusive. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

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

/** A track with these landmarks, null where a frame shows no face. */
export function drawnTrack(
  faces: readonly (ArrayLike<number> | null)[],
  { width, height }: { readonly width: number; readonly height: number },
  cuts: readonly number[] = [0],
  rate = { num: 25, den: 1 },
): FaceTrack {
  const landmarks = new Float32Array(faces.length * LANDMARK_VALUES);
  faces.forEach((points, frame) => points && landmarks.set(points, frame * LANDMARK_VALUES));
  return {
    version: FACE_TRACK_VERSION,
    analyzerVersion: 'drawn@1.0.0',
    frames: faces.length,
    clock: constantClock(rate, faces.length),
    width,
    height,
    found: Uint8Array.from(faces, (points) => (points === null ? 0 : 1)),
    landmarks,
    cuts: Uint8Array.from(faces, (_, frame) => (cuts.includes(frame) ? 1 : 0)),
    looks: new Uint8Array(faces.length),
    seen: Uint8Array.from(faces, (face) => (face === null ? 0 : 1)),
    held: new Uint8Array(faces.length),
    shown: new Uint8Array(faces.length).fill(255),
    covers: new Map(),
  };
}

/** The face track that the analyzer would make for a face that never moves; the pictures need not show one. */
export function syntheticTrack({ frames, box, hasFace, ...picture }: SyntheticFace): FaceTrack {
  const points = FACE.flatMap(([x, y]) => [box.x1 + x * (box.x2 - box.x1), box.y1 + y * (box.y2 - box.y1)]);
  return drawnTrack(
    upTo(frames).map((frame) => (hasFace?.(frame) === false ? null : points)),
    picture,
  );
}
