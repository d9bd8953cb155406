import { type EngineClip, type FaceBatch, type GeneratedFaces } from '../engines/engine';
import { observeClip } from './observe-clip';

/** Paints the first pixel of every other frame with the number of its output frame. */
function painter(): EngineClip {
  const taken = new Map<object, number[]>();
  return {
    batchSize: 4,
    newBatch: () => {
      const indices: number[] = [];
      const batch: FaceBatch = {
        capacity: 4,
        get size() {
          return indices.length;
        },
      };
      taken.set(batch, indices);
      return batch;
    },
    joins: () => true,
    take: (batch, _frame, outputIndex) =>
      outputIndex % 2 === 1 ? null : (taken.get(batch)?.push(outputIndex) ?? 0) - 1,
    enlargement: (outputIndex) => outputIndex / 10,
    infer: async (batch) => {
      const faces: GeneratedFaces = { size: batch.size };
      taken.set(faces, taken.get(batch) ?? []);
      return faces;
    },
    put: (faces, slot, frame) => {
      frame[0] = taken.get(faces)?.[slot] ?? 0;
    },
    recycle: () => undefined,
    close: async () => undefined,
  };
}

test('an observer sees every picture with its output frame, before and after the face is written', async () => {
  const seen: [string, number, number][] = [];
  const clip = observeClip(painter(), {
    passed: () => undefined,
    taken: () => undefined,
    before: (frame, index) => seen.push(['before', index, frame[0] ?? -1]),
    after: (frame, index) => seen.push(['after', index, frame[0] ?? -1]),
  });
  for (const first of [10, 20]) {
    const batch = clip.newBatch();
    const slots = [0, 1, 2].map((i) => clip.take(batch, new Uint8Array(1), first + i));
    expect(slots).toEqual([0, null, 1]);
    const faces = await clip.infer(batch);
    clip.put(faces, 0, new Uint8Array(1));
    clip.put(faces, 1, new Uint8Array(1));
  }
  expect(seen).toEqual(
    [10, 12, 20, 22].flatMap((index) => [
      ['before', index, 0],
      ['after', index, index],
    ]),
  );
});

test('an observer is told of every frame whether its face is generated, and how much enlarged', () => {
  const seen: (number | 'passed')[] = [];
  const clip = observeClip(painter(), {
    passed: () => seen.push('passed'),
    taken: (enlargement) => seen.push(enlargement),
    before: () => undefined,
    after: () => undefined,
  });
  const batch = clip.newBatch();
  for (const output of [4, 5, 12]) clip.take(batch, new Uint8Array(1), output);
  expect(seen).toEqual([0.4, 'passed', 1.2]);
});
