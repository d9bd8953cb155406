import { type FaceTrack, type PictureFormat, type Recording } from '@lipsync/lipsync';
import { type FeatureLayout } from '../../protocol/feature-layout';

/** The pictures of a clip one after the other: planar yuv420p, rows without padding. */
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
   * The faces of the source video at the working frame rate. Nothing beyond TRACK_REACH of a frame may decide on it; an
   * engine for which more does has to tell from what it kept whether that still holds.
   */
  readonly track: FaceTrack;
  /** The new speech at 16 kHz; silence is assumed where it is shorter than the output. */
  readonly audio: Recording;
  /** The source frame of every output frame; its length is the output's. */
  readonly sources: readonly number[];
  /** How the frames handed to `take` and `put` are laid out. */
  readonly format: PictureFormat;
  /** What is known of the source frames already; grows while rendering. */
  readonly features: FrameFeatures;
  /** The output's pictures once more, in output order, for an engine that must see a stretch before its first face. */
  openFrames(): FrameStream;
  /** Aborted when the clip is given up. */
  readonly signal: AbortSignal;
}

/** What an engine keeps per source frame of a video: a fixed number of float32, see `FeatureLayout`. */
export interface FrameFeatures {
  has(sourceIndex: number): boolean;
  /** Copies what was written for a frame to `target` from `offset` on. Throws RangeError when there is nothing. */
  read(sourceIndex: number, target: Float32Array, offset: number): void;
  /** Keeps the values that lie in `values` from `offset` on. */
  write(sourceIndex: number, values: Float32Array, offset: number): void;
}

/** Keeps nothing: for engines and clips whose features are computed faster than they are fetched. */
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
  /** Audio features and per-clip state. */
  open(clip: ClipInput): Promise<EngineClip>;
  /** For a preparation: fills `features` with what the engine keeps of a whole video. */
  openEncoder(input: Pick<ClipInput, 'track' | 'format' | 'features'>): FaceEncoder;
}

/** Computes features ahead of any render. Collects batches inside, in memory that does not grow with the video. */
export interface FaceEncoder {
  /** Called with every source frame in order; `frame` may be reused once the promise has resolved. */
  add(frame: Uint8Array, sourceIndex: number): Promise<void>;
  /** After the last frame: computes what is left. */
  flush(): Promise<void>;
}

/**
 * One clip in progress. The pipeline hands over each output frame in order, runs a batch when it is full, when the
 * next face does not join it, and the last one when frames end, then lets the engine write each face back:
 *
 *     let batch = clip.newBatch();
 *     if (!batch.joins(outputIndex)) …                               // infer what there is, go on with a new batch
 *     const slot = batch.take(frame, outputIndex);                   // null: no face, frame passes untouched
 *     …
 *     const faces = await batch.infer();
 *     faces.put(slot, frame);
 *
 * Several batches may be in flight at once. Frames are planar yuv420p, rows without padding.
 */
export interface EngineClip {
  /** Faces of a full batch. */
  readonly batchSize: number;
  /** An empty batch. Its memory is recycled from batches whose faces were all put back, see `recycle`. */
  newBatch(): FaceBatch;
  /**
   * Pixels of the picture per pixel of the generated face, in the direction in which there are more, for a frame that
   * `take` gave a slot: above 1 the face is enlarged, and softer than what surrounds it.
   */
  enlargement(outputIndex: number): number;
  /** After the last batch has ended, also of a clip that failed: stops what the engine still has under way. */
  close(): Promise<void>;
}

/** Faces taken and not yet generated. */
export interface FaceBatch {
  /** Slots in use. */
  readonly size: number;
  /** Asked of a batch with faces: false when this output frame must not share it (a gap, a cut, a full window). */
  joins(outputIndex: number): boolean;
  /**
   * Copies what the engine needs of this frame into the next free slot and returns the slot; null when the frame
   * shows no face. Throws RangeError when the batch is full.
   */
  take(frame: Uint8Array, outputIndex: number): number | null;
  /** Generates the faces; the batch is used up. */
  infer(): Promise<GeneratedFaces>;
}

/** The generated faces of one batch. */
export interface GeneratedFaces {
  /** Blends the face of `slot` into its frame; pixels outside the mask keep their exact values. */
  put(slot: number, frame: Uint8Array): void;
  /** Gives their memory back, after the last `put`. */
  recycle(): void;
}
