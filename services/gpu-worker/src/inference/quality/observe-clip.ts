import { type EngineClip, type GeneratedFaces } from '../engines/engine';

/** Sees what an engine takes, and pictures just before and just after their face is written into them. */
export interface FaceObserver {
  /** The frame passes untouched. */
  readonly passed: () => void;
  /** The frame's face will be generated, and enlarged by this factor to fit into it. */
  readonly taken: (enlargement: number) => void;
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
      if (slot === null) {
        observer.passed();
      } else {
        observer.taken(clip.enlargement(outputIndex));
        indicesOf(batch)[slot] = outputIndex;
      }
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
