import { type Clock } from '@lipsync/domain';
import { type PictureFormat } from '@lipsync/kernels';
import { type FaceTrack } from './face/face-track';
import { type OwnMouths } from './face/mouth-exemplars';
import { type Recording } from './speech/log-mel';

/** The pictures of a clip in sequence, see `PictureFormat`; rows without padding. */
export interface FrameStream {
  /** Bytes of one picture. */
  readonly frameBytes: number;
  /** Fills `frame` with the next picture; false after the last one. One call at a time. */
  readInto(frame: Uint8Array): Promise<boolean>;
  close(): Promise<void>;
}

/** What an engine needs to know about one job before the first frame. */
export interface ClipInput {
  /**
   * The faces of the source video. A frame's result should depend on nothing beyond TRACK_REACH of it; an engine with a
   * longer dependency must be able to tell whether the features that it kept are still valid.
   */
  readonly track: FaceTrack;
  /**
   * The video's own mouth in each look of its face, see `mouthsAt`; none for an engine that does not want exemplars. They
   * may still be cut while the engine prepares its first faces.
   */
  readonly mouths: OwnMouths;
  /**
   * The new speech at 16 kHz, implicitly followed by silence where it is shorter than the output. It may still be decoded
   * meanwhile, too.
   */
  readonly audio: Recording | Promise<Recording>;
  /** The source frame index of every output frame; the length is the output's. */
  readonly sources: readonly number[];
  /** When the output frames are on screen. */
  readonly clock: Clock;
  /** How the frames handed to `take` and `put` are laid out. */
  readonly format: PictureFormat;
  /** Features already known of the source frames; grows while rendering. */
  readonly features: FrameFeatures;
  /**
   * A second stream of the output's pictures, in output order, for an engine that must see a stretch before its first
   * face.
   */
  openFrames(): FrameStream;
  /** Aborted when the clip is abandoned. */
  readonly signal: AbortSignal;
}

/** What an engine keeps per source frame of a video: a fixed number of float32 values, see `FeatureLayout`. */
export interface FrameFeatures {
  has(sourceIndex: number): boolean;
  /** Copies a frame's values to `target` at `offset`. Throws RangeError when the frame has none. */
  read(sourceIndex: number, target: Float32Array, offset: number): void;
  /** Stores the values found in `values` at `offset`. */
  write(sourceIndex: number, values: Float32Array, offset: number): void;
}

/** Keeps nothing: for engines and clips whose features are faster to compute than to fetch. */
export const noFeatures: FrameFeatures = {
  has: () => false,
  read: (sourceIndex) => {
    throw new RangeError(`nothing is kept of frame ${sourceIndex}`);
  },
  write: () => undefined,
};

/** A lip-sync engine bound to a model pack: one algorithm, ready for any number of clips. */
export interface LipSyncEngine {
  readonly features: FeatureLayout;
  /** Whether the pack asks for exemplars. Making them takes time, so `mouths` holds some only then. */
  readonly wantsExemplars: boolean;
  /** Prepares the per-clip state, and begins to encode the speech. A failure to do so is that of the first batch. */
  open(clip: ClipInput): EngineClip;
  /** For a preparation: fills `features` with what the engine keeps of a whole video. */
  openEncoder(input: Pick<ClipInput, 'track' | 'format' | 'features'>): FaceEncoder;
}

/** Computes features ahead of any render. Batches internally; its memory does not grow with the video. */
export interface FaceEncoder {
  /** Called with every source frame in order; `frame` may be reused once the promise has resolved. */
  add(frame: Uint8Array, sourceIndex: number): Promise<void>;
  /** Call after the last frame: computes what remains. */
  flush(): Promise<void>;
  /** Whether a source frame shows a face that plain playback needs, and whose features are not known yet. */
  lacks(sourceIndex: number): boolean;
}

/**
 * One clip in progress. The pipeline offers every output frame in order. It runs a batch when the batch is full, when
 * the next face may not join it, and when the frames end; then the engine writes each face back, also in order:
 *
 *     let batch = clip.newBatch();
 *     if (!batch.joins(outputIndex)) …                               // infer this batch, continue with a new one
 *     const slot = batch.take(frame, outputIndex);                   // null: no face, the frame passes unchanged
 *     …
 *     const faces = await batch.infer();
 *     faces.put(slot, frame);
 *
 * Several batches may be in flight at once. Frames are as the clip's `format` says, rows without padding.
 */
export interface EngineClip {
  /** Most faces in a batch. */
  readonly batchSize: number;
  /**
   * An empty batch. Reuses the memory of batches that were recycled after all their faces were put back, see `recycle`.
   */
  newBatch(): FaceBatch;
  /**
   * Picture pixels per pixel of the generated face, in the direction where this is larger, for a frame that `take` gave
   * a slot. Above 1 the face is enlarged, and softer than its surroundings.
   */
  enlargement(outputIndex: number): number;
  /** Call after the last batch has ended, also for a clip that failed: stops what the engine still has in progress. */
  close(): Promise<void>;
}

/** Faces taken and not yet generated. */
export interface FaceBatch {
  /** Number of slots in use. */
  readonly size: number;
  /** Whether it takes no further face. */
  readonly full: boolean;
  /** Asked of a non-empty batch: false when this output frame must not share it (a gap, a cut, a full window). */
  joins(outputIndex: number): boolean;
  /**
   * Copies what the engine needs of this frame into the next free slot and returns the slot, or null when the frame
   * shows no face. Throws RangeError when the batch is full.
   */
  take(frame: Uint8Array, outputIndex: number): number | null;
  /** Generates the faces. The batch cannot be used again. */
  infer(): Promise<GeneratedFaces>;
}

/** The generated faces of one batch. */
export interface GeneratedFaces {
  /** Blends the face of `slot` into its frame; pixels outside the mask keep their exact values. */
  put(slot: number, frame: Uint8Array): void;
  /** Returns the faces' memory for reuse; call once after the last `put`. */
  recycle(): void;
}

/** Size and version of what an engine keeps per source frame. */
export interface FeatureLayout {
  /** Changes whenever the meaning of the values does; the pack that computed them is tracked separately. */
  readonly version: string;
  /** Floats per source frame; 0 if nothing is worth keeping. */
  readonly values: number;
}

/** Larger features are computed faster than they are fetched from an object store. */
const MOST_BYTES_PER_FRAME = 256 * 1024;

/** Whether an engine's features are worth storing in a file. */
export function isWorthKeeping({ values }: FeatureLayout): boolean {
  return values > 0 && values * 4 <= MOST_BYTES_PER_FRAME;
}
