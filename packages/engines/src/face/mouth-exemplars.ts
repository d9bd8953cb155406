/** Pictures of a clip's own mouth, from which a generator may take lips and teeth. All of them, or none. */
export interface MouthExemplars {
  /** [EXEMPLARS, 3, EXEMPLAR_SIDE, EXEMPLAR_SIDE]: planes R, G, B, by rising opening of the mouth. */
  readonly pictures: Uint8Array;
  /** [EXEMPLARS, 68, 2]: the landmarks of each picture's frame, in pixels of the picture. */
  readonly landmarks: Float32Array;
}

/** Number of pictures. A clip with fewer different mouths repeats some. */
export const EXEMPLARS = 8;

/** Side of a picture in pixels. */
export const EXEMPLAR_SIDE = 256;

/** Bytes of one picture. */
export const EXEMPLAR_BYTES = 3 * EXEMPLAR_SIDE ** 2;

/** For a video that shows no mouth to keep. */
export const NO_MOUTHS: MouthExemplars = { pictures: new Uint8Array(0), landmarks: new Float32Array(0) };
