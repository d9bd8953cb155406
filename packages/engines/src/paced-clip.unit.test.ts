import { constantClock } from '@lipsync/domain';
import { type Run } from './face/smoothing';
import { choosePace } from './pace';
import { createPacedClip } from './paced-clip';
import { upTo } from './test/clips';

const BATCH = 4;

/**
 * A clip of this many frames a second, whose generator draws the second of an instant, and pastes what it drew into a
 * frame. Tells which crops it generated and which it got back.
 */
function pacedClip(fps: number, frames: number, runs: readonly Run[] = [{ start: 0, end: frames }]) {
  const clock = constantClock({ num: fps, den: 1 }, frames);
  const pace = choosePace({ sources: upTo(frames), clock }, runs, { rates: [24, 30], together: BATCH });
  const batches: number[][] = [];
  const inUse = new Set<Float32Array>();
  let mostInUse = 0;
  const clip = createPacedClip(pace, upTo(frames), {
    batchSize: BATCH,
    side: 1,
    shown: { x1: 0, y1: 0, x2: 1, y2: 1 },
    newBatch() {
      const taken: number[] = [];
      return {
        take(frame, instant) {
          expect(frame[0]).toBe(pace.instants[instant]?.source);
          taken.push(instant);
        },
        async infer() {
          batches.push(taken);
          const shown = taken.filter((instant) => pace.instants[instant]?.shown);
          const crops = shown.map((instant) =>
            new Float32Array(3).fill(pace.instants[instant]?.seconds ?? NaN),
          );
          for (const crop of crops) inUse.add(crop);
          mostInUse = Math.max(mostInUse, inUse.size);
          return new Map(shown.map((instant, i) => [instant, crops[i] ?? new Float32Array(3)]));
        },
      };
    },
    paste(frame, source, image) {
      expect(frame[0]).toBe(source);
      frame[1] = Math.round((image[0] ?? NaN) * 1000);
    },
    enlargement: (source) => source,
    give: (image) => expect(inUse.delete(image)).toBe(true),
    close: async () => undefined,
  });

  /** Renders as the pipeline does, with two batches in flight; returns what was pasted into each frame. */
  async function render(): Promise<(number | null)[]> {
    const pasted: (number | null)[] = [];
    let batch = clip.newBatch();
    let taken: { frame: Uint16Array; slot: number }[] = [];
    let earlier: { faces: ReturnType<typeof batch.infer>; taken: typeof taken } | undefined;
    const putBack = async (): Promise<void> => {
      if (!earlier) return;
      const faces = await earlier.faces;
      for (const { frame, slot } of earlier.taken) {
        faces.put(slot, frame as unknown as Uint8Array);
        pasted[frame[0] ?? -1] = frame[1] ?? NaN;
      }
      faces.recycle();
    };
    const send = async (): Promise<void> => {
      const faces = batch.infer();
      await putBack();
      earlier = { faces, taken };
      [batch, taken] = [clip.newBatch(), []];
    };
    for (const output of upTo(frames)) {
      const frame = Uint16Array.of(output, 0);
      if (batch.size > 0 && !batch.joins(output)) await send();
      const slot = batch.take(frame as unknown as Uint8Array, output);
      if (slot === null) pasted[output] = null;
      else taken.push({ frame, slot });
      expect(batch.size).toBeLessThanOrEqual(clip.batchSize);
      if (batch.full) await send();
    }
    expect(batch.size).toBe(0);
    await putBack();
    return pasted;
  }
  return { clip, render, batches, inUse, mostInUse: () => mostInUse };
}

/** The middle of a frame's time, in milliseconds. */
const middle = (fps: number) => (output: number) => Math.round(((output + 0.5) / fps) * 1000);

test.each([12, 15, 25, 30, 50, 60])(
  'at %d fps every frame shows the face of its own time, and all memory comes back',
  async (fps) => {
    const { render, inUse } = pacedClip(fps, 41);
    expect(await render()).toEqual(upTo(41).map(middle(fps)));
    expect(inUse.size).toBe(0);
  },
);

test('a frame between two batches is in the later one, and shows faces of both', async () => {
  const { render, batches, clip } = pacedClip(50, 19);
  expect((await render())[7]).toBe(150);
  expect(batches).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ]);
  // Frames 7 to 14.
  expect(clip.batchSize).toBe(8);
});

test('instants that nobody sees share the batch of their frame', async () => {
  const { render, batches, clip } = pacedClip(12, 5);
  await render();
  expect(batches).toEqual([
    [0, 1, 2],
    [3, 4, 5, 6],
    [7, 8],
  ]);
  expect(clip.batchSize).toBe(2);
});

test('a run is one batch or more of its own, and is full where it ends', async () => {
  const runs = [
    { start: 0, end: 3 },
    { start: 5, end: 8 },
    { start: 8, end: 9 },
  ];
  const { render, batches } = pacedClip(25, 10, runs);
  const faceless = [3, 4, 9];
  expect(await render()).toEqual(upTo(10).map((i) => (faceless.includes(i) ? null : middle(25)(i))));
  expect(batches).toEqual([[0, 1, 2], [3, 4, 5], [6]]);
});

test('the crops in memory do not grow with the clip', async () => {
  const { render, mostInUse } = pacedClip(60, 500);
  await render();
  // Two batches in flight, and the last face before them.
  expect(mostInUse()).toBeLessThanOrEqual(2 * BATCH + 1);
});

test('a frame is refused whose faces are not generated yet', async () => {
  const { clip } = pacedClip(50, 20);
  const batch = clip.newBatch();
  expect(batch.take(new Uint8Array(2), 1)).toBe(0);
  const faces = await batch.infer();
  expect(() => faces.put(0, new Uint8Array(2))).toThrow(RangeError);
  expect(() => faces.put(1, new Uint8Array(2))).toThrow(RangeError);
});

test('a batch refuses more than it has room for', () => {
  const { clip } = pacedClip(25, 20);
  const batch = clip.newBatch();
  const take = (output: number) => batch.take(Uint8Array.of(output, 0), output);
  for (const output of upTo(BATCH)) take(output);
  expect(() => take(BATCH)).toThrow(RangeError);
});

test('faces report the enlargement of their own frame', () => {
  expect(pacedClip(50, 20).clip.enlargement(3)).toBe(3);
});
