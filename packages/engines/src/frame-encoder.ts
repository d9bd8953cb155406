import { type FaceEncoder } from './engine';
import { createInOrder } from './in-order';

type Floats = Float32Array<ArrayBuffer>;

/** Number of faces that are encoded while the next frame is decoded. */
const ENCODING = 2;

export interface FrameEncoderParts {
  /** Whether a source frame shows a face whose features are not stored yet. */
  readonly isMissing: (source: number) => boolean;
  /** Computes the values to store for a frame's face; must no longer need `frame` when it returns. */
  readonly encode: (frame: Uint8Array, source: number) => Promise<Floats>;
  /** Stores the values; nothing reads them afterwards. */
  readonly keep: (source: number, values: Floats) => void;
}

/** Encodes every missing face of a video, frame by frame, for a preparation. */
export function createFrameEncoder({ isMissing, encode, keep }: FrameEncoderParts): FaceEncoder {
  const encoding = createInOrder<readonly [number, Floats]>(ENCODING, ([source, values]) =>
    keep(source, values),
  );
  return {
    async add(frame, source) {
      if (isMissing(source)) await encoding.add(async () => [source, await encode(frame, source)]);
    },
    flush: () => encoding.finish(),
  };
}
