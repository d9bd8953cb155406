import { type BlendMask, MASK_SIZE } from '@lipsync/kernels';

/** Masks by source frame: a clip that loops shows each frame many times. */
export interface MaskCache {
  /** The mask of a frame, if it is still cached. */
  find(sourceIndex: number): BlendMask | undefined;
  /** The mask of a frame, made with `fill` if it is not cached. */
  get(sourceIndex: number, fill: (mask: BlendMask) => void): BlendMask;
}

/** Keeps the `capacity` most recently used masks; a mask stays valid until that many others were requested. */
export function createMaskCache(capacity: number): MaskCache {
  // Ordered by use, least recent first.
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
