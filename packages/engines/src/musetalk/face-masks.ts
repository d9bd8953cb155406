import { type BlendMask, createMaskSoftener, HALF_MASK_VALUES } from '@lipsync/kernels';
import { createMaskCache } from './mask-cache';
import { type MusetalkParams } from './musetalk-params';
import { outlineMask } from './outline-mask';
import { type SourceFace } from './source-faces';

/** The masks of a clip's faces. */
export interface FaceMasks {
  /** The mask, if the clip has shown this source frame before. */
  find(sourceIndex: number): BlendMask | undefined;
  /**
   * Made from the parser's output if the pack has one, from the landmarks otherwise; `parsed` is [slots, maskValues].
   */
  get(face: SourceFace, parsed: Float32Array, slot: number): BlendMask;
}

/** Ten seconds of source frames whose masks are made only once while the clip loops: 16 MB. */
const CACHED_MASKS = 256;

/** `maskValues`: see `FaceFeatures`. */
export function createFaceMasks(
  { batch, mask: { blur } }: Pick<MusetalkParams, 'batch' | 'mask'>,
  maskValues: number,
): FaceMasks {
  const soften = createMaskSoftener(blur);
  const outline = new Float32Array(HALF_MASK_VALUES);
  // A mask must outlive the batches that use it, of which several are in flight at once.
  const masks = createMaskCache(Math.max(CACHED_MASKS, 16 * batch));
  return {
    find: (sourceIndex) => masks.find(sourceIndex),
    get: ({ sourceIndex, box, landmarks }, parsed, slot) =>
      masks.get(sourceIndex, (mask) => {
        if (maskValues > 0) {
          soften(parsed, slot * maskValues, box, mask);
        } else {
          outlineMask(landmarks, box, outline);
          soften(outline, 0, box, mask);
        }
      }),
  };
}
