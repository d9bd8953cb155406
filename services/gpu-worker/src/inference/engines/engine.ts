import { type FaceTrack, type PictureFormat } from '@lipsync/lipsync';

/** What an engine needs to know about one job before the first frame. */
export interface ClipInput {
  /** The faces of the source video at the working frame rate; indices below are source indices of this track. */
  readonly track: FaceTrack;
  /** The new speech, mono, 16 kHz, in [-1, 1]. */
  readonly audio: Float32Array;
  /** Frames that the output will have; audio beyond them is ignored, silence is assumed where audio is missing. */
  readonly outputFrames: number;
  /** How the frames handed to `take` and `put` are laid out. */
  readonly format: PictureFormat;
}

/** A lip-sync engine bound to a model pack: one algorithm, ready for any number of clips. */
export interface LipSyncEngine {
  /** Audio features and per-clip state. */
  open(clip: ClipInput): Promise<EngineClip>;
}

/**
 * One clip in progress. The pipeline hands over each output frame in order, runs a batch when it is full (and the
 * last one when frames end), then lets the engine write each face back:
 *
 *     const batch = clip.newBatch();
 *     const slot = clip.take(batch, frame, sourceIndex, outputIndex);   // null: no face, frame passes untouched
 *     …
 *     const faces = await clip.infer(batch);
 *     clip.put(faces, slot, frame);
 *
 * Several batches may be in flight at once. Frames are planar yuv420p, rows without padding.
 */
export interface EngineClip {
  readonly batchSize: number;
  /** An empty batch. Its memory is recycled from batches whose faces were all put back, see `recycle`. */
  newBatch(): FaceBatch;
  /**
   * Copies what the engine needs of this frame into the next free slot and returns the slot; null when the frame
   * shows no face. Throws RangeError when the batch is full.
   */
  take(batch: FaceBatch, frame: Uint8Array, sourceIndex: number, outputIndex: number): number | null;
  /** Generates the faces of a batch. An incomplete batch is padded, the graphs always see one shape. */
  infer(batch: FaceBatch): Promise<GeneratedFaces>;
  /** Blends the face of `slot` into its frame; pixels outside the mask keep their exact values. */
  put(faces: GeneratedFaces, slot: number, frame: Uint8Array): void;
  /** Gives the memory of a finished batch back. Optional: without it every batch is allocated anew. */
  recycle(faces: GeneratedFaces): void;
}

/** Faces taken and not yet generated; `size` of `capacity` slots are in use. */
export interface FaceBatch {
  readonly size: number;
  readonly capacity: number;
}

/** The generated faces of one batch. */
export interface GeneratedFaces {
  readonly size: number;
}
