import { type EngineClip, type GeneratedFaces } from '../engines/engine';

/** Sees pictures just before and just after their face is written into them. */
export interface FaceObserver {
  readonly before: (frame: Uint8Array, outputIndex: number) => void;
  readonly after: (frame: Uint8Array, outputIndex: number) => void;
}

/** The same clip, with somebody looking on. */
export function observeClip(clip: EngineClip, observer: FaceObserver): EngineClip {
  const indices = new WeakMap<object, number[]>();
  const indicesOf = (batch: object): number[] => {
    const known = indices.get(batch) ?? [];
    indices.set(batch, known);
    return known;
  };

  return {
    ...clip,
    take(batch, frame, outputIndex) {
      const slot = clip.take(batch, frame, outputIndex);
      if (slot !== null) indicesOf(batch)[slot] = outputIndex;
      return slot;
    },
    async infer(batch) {
      const taken = indicesOf(batch);
      const faces: GeneratedFaces = await clip.infer(batch);
      indices.set(faces, taken);
      return faces;
    },
    put(faces, slot, frame) {
      const outputIndex = indicesOf(faces)[slot];
      if (outputIndex === undefined) throw new RangeError(`slot ${slot} holds no face`);
      observer.before(frame, outputIndex);
      clip.put(faces, slot, frame);
      observer.after(frame, outputIndex);
    },
  };
}
