import { type BlendMask, MASK_SIZE } from '@lipsync/lipsync';

/** Masks by their source frame: a clip that loops shows each frame many times. */
export interface MaskCache {
  /** The mask of a frame, when it is still there. */
  find(sourceIndex: number): BlendMask | undefined;
  /** The mask of a frame, made by `fill` when it is not there. */
  get(sourceIndex: number, fill: (mask: BlendMask) => void): BlendMask;
}

/** Keeps the `capacity` masks that were asked for last; a mask stays as it is until as many others were asked for. */
export function createMaskCache(capacity: number): MaskCache {
  // In order of use, the longest unused first.
  const masks = new Map<number, BlendMask>();
  const takeLeastUsed = (): BlendMask | undefined => {
    for (const [sourceIndex, mask] of masks) {
      masks.delete(sourceIndex);
      return mask;
    }
    return undefined;
  };
  const find = (sourceIndex: number): BlendMask | undefined => {
    const mask = masks.get(sourceIndex);
    if (mask === undefined) return undefined;
    masks.delete(sourceIndex);
    masks.set(sourceIndex, mask);
    return mask;
  };
  return {
    find,
    get(sourceIndex, fill) {
      const found = find(sourceIndex);
      if (found) return found;
      const reused = masks.size < capacity ? undefined : takeLeastUsed();
      const mask = reused ?? new Float32Array(MASK_SIZE * MASK_SIZE);
      fill(mask);
      masks.set(sourceIndex, mask);
      return mask;
    },
  };
}
