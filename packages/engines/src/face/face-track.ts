import { type Clock, FINEST_TIMESCALE } from '@lipsync/domain';
import { z } from 'zod';
import { COVER_BYTES, type Covers } from './cover';
import { LANDMARK_VALUES } from './landmarks';

/**
 * Version of a face track's layout and meaning, and of the rules by which its face was found. Tracks of another version
 * are refused. An analyzer's own version covers only its pack.
 */
export const FACE_TRACK_VERSION = '14';

/**
 * The rows of how many seconds before and after a frame may affect the data derived for it from the track, such as
 * smoothed crops and features worth keeping. A partial analysis looks this much further ahead, so that it yields the same
 * derived data as an analysis of the whole video.
 */
export const TRACK_REACH = 1;

/** The main face of a video, frame by frame. Frames without a face have rows of zeros. */
export interface FaceTrack {
  readonly version: typeof FACE_TRACK_VERSION;
  /** Version of the analyzer pack that made the track. */
  readonly analyzerVersion: string;
  readonly frames: number;
  /** When the frames are on screen. */
  readonly clock: Clock;
  /** Size of the source picture. All coordinates are in its pixels. */
  readonly width: number;
  readonly height: number;
  /** Per frame: 1 when the face and its mouth are visible. */
  readonly found: Uint8Array;
  /** Per frame: 68 points, x and y. The mouth's points are as measured; the others are lightly smoothed. */
  readonly landmarks: Float32Array;
  /** Per frame: 1 on the first frame of a new shot and where the face jumps within a shot. */
  readonly cuts: Uint8Array;
  /** Per frame: the number of the look that its face wears, see `groupLooks`; the same between two cuts. */
  readonly looks: Uint8Array;
  /** Per frame: 1 when the face was seen with this look: not filled in across a gap, nor merely similar. */
  readonly seen: Uint8Array;
  /** Per frame: 1 when it shows the picture of the frame before, which stays on screen for long. */
  readonly held: Uint8Array;
  /**
   * Per frame: how much of the generated mouth is shown, 255 all. It fades to the filmed one before and after something
   * covers the mouth, the face is not found, or another one has the turn. Where it is not found, this is 0.
   */
  readonly shown: Uint8Array;
  /** What lies before the face: nothing generated is shown there. */
  readonly covers: Covers;
}

/** The 68 points of a frame, x and y. */
export function landmarksAt({ landmarks }: Pick<FaceTrack, 'landmarks'>, frame: number): Float32Array {
  return landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES);
}

export class FaceTrackError extends Error {
  override readonly name = 'FaceTrackError';
}

/*
 * Layout: 4 bytes "LSFT", uint32 length of a JSON header, the header; the landmarks as float32; the clock's ticks and the
 * numbers of the frames with covers as uint32; as bytes found, cuts, looks, seen, held, shown and the covers. All numbers
 * are little-endian, as are all machines that the runtime is built for. Spaces pad the header so that the landmarks are
 * aligned and can be read without a copy.
 */
const MAGIC = 0x5446534c;
const PREFIX_BYTES = 8;
const BLANK = 0x20;

export function encodeFaceTrack(track: FaceTrack): Uint8Array {
  const { found, landmarks, cuts, looks, seen, held, shown, covers, clock, ...facts } = track;
  const covered = Uint32Array.from(covers.keys()).sort();
  const header = { ...facts, timescale: clock.timescale, covered: covered.length };
  const json = new TextEncoder().encode(JSON.stringify(header satisfies z.infer<typeof headerSchema>));
  const headerBytes = new Uint8Array(Math.ceil(json.length / 4) * 4).fill(BLANK);
  headerBytes.set(json);
  const numbers = [bytesOf(landmarks), bytesOf(clock.ticks), bytesOf(covered)];
  const grids = Array.from(covered).flatMap((frame) => covers.get(frame) ?? []);
  const parts = [...numbers, found, cuts, looks, seen, held, shown, ...grids];
  const length = parts.reduce((sum, part) => sum + part.length, PREFIX_BYTES + headerBytes.length);
  const out = new Uint8Array(length);
  const view = new DataView(out.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, headerBytes.length, true);
  let offset = PREFIX_BYTES;
  for (const part of [headerBytes, ...parts]) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}

/**
 * Reads what encodeFaceTrack wrote. Throws FaceTrackError when the data is truncated, damaged or of another version.
 * The track uses the memory of `bytes`, so the caller must no longer use `bytes`.
 */
export function decodeFaceTrack(bytes: Uint8Array): FaceTrack {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < PREFIX_BYTES || view.getUint32(0, true) !== MAGIC)
    throw new FaceTrackError('not a face track');
  const dataStart = PREFIX_BYTES + view.getUint32(4, true);
  const header = readHeader(bytes.subarray(PREFIX_BYTES, dataStart));
  const { covered, timescale, ...facts } = header;
  const { frames } = facts;
  const landmarkBytes = frames * LANDMARK_VALUES * Float32Array.BYTES_PER_ELEMENT;
  const tickBytes = (frames + 1) * Uint32Array.BYTES_PER_ELEMENT;
  const coverBytes = covered * (Uint32Array.BYTES_PER_ELEMENT + COVER_BYTES);
  if (bytes.length !== dataStart + landmarkBytes + tickBytes + 6 * frames + coverBytes)
    throw new FaceTrackError(`a face track of ${frames} frames cannot have ${bytes.length} bytes`);
  let offset = dataStart;
  const next = (size: number): Uint8Array => bytes.subarray(offset, (offset += size));
  const landmarks = floatsOf(next(landmarkBytes));
  const ticks = wordsOf(next(tickBytes));
  const coveredFrames = wordsOf(next(covered * Uint32Array.BYTES_PER_ELEMENT));
  if (!coveredFrames.every((frame, i) => frame < frames && frame > (coveredFrames[i - 1] ?? -1)))
    throw new FaceTrackError('the covers of the face track are damaged');
  return {
    ...facts,
    landmarks,
    clock: { timescale, ticks },
    found: next(frames),
    cuts: next(frames),
    looks: next(frames),
    seen: next(frames),
    held: next(frames),
    shown: next(frames),
    covers: new Map(Array.from(coveredFrames, (frame) => [frame, next(COVER_BYTES)] as const)),
  };
}

const count = z.int().nonnegative();
const headerSchema = z.object({
  version: z.literal(FACE_TRACK_VERSION),
  analyzerVersion: z.string(),
  frames: count,
  timescale: z.int().positive().max(FINEST_TIMESCALE),
  covered: count,
  width: count,
  height: count,
});

function readHeader(bytes: Uint8Array): z.infer<typeof headerSchema> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new FaceTrackError('the header of the face track is damaged', { cause });
  }
  const header = headerSchema.safeParse(json);
  if (!header.success) throw new FaceTrackError('a face track of another version');
  return header.data;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function floatsOf(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } = aligned(bytes);
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, byteLength } = aligned(bytes);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

/** The bytes, copied if they lie at an odd place of a buffer. */
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
}
