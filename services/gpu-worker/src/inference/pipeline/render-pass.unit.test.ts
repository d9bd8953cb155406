import { getEventListeners } from 'node:events';
import { type EngineClip, type FaceBatch, type GeneratedFaces } from '@lipsync/engines';
import { type FaceObserver } from '../quality/quality-probe';
import { createStageClock } from '../stage-clock';
import { createFramePool } from './frame-buffers';
import { type RenderPass, renderPass } from './render-pass';

interface Script {
  readonly frames: number;
  /** Whether output frame `i` shows a face. */
  readonly hasFace?: (i: number) => boolean;
  readonly infer?: (faces: readonly number[]) => Promise<void>;
  readonly readFrame?: (i: number) => Promise<void>;
  readonly writeFrame?: (i: number) => Promise<void>;
  /** Whether output frame `i` may share a batch with the faces before it. */
  readonly joins?: (i: number) => boolean;
  readonly observer?: Partial<FaceObserver>;
  readonly keepFilmed?: RenderPass['keepFilmed'];
  readonly signal?: AbortSignal;
  /** Number of picture buffers; four batches by default. */
  readonly buffers?: number;
}

interface Seen {
  /** First two bytes of every written frame: the source value and what the engine made of it. */
  readonly written: [number, number][];
  readonly batches: number[][];
  /** Faces of every recycled batch, and how many of them had been put back by then. */
  readonly recycled: [faces: number, put: number][];
  mostInFlight: number;
}

const BATCH = 4;

const blind: FaceObserver = {
  passed: () => undefined,
  taken: () => undefined,
  before: () => undefined,
  after: () => undefined,
};

/** An engine that records which frames it gets and writes 100 + source value into a frame's second byte. */
function scripted(script: Script): { pass: RenderPass; seen: Seen } {
  const seen: Seen = { written: [], batches: [], recycled: [], mostInFlight: 0 };
  let reads = 0;
  let writes = 0;
  let inFlight = 0;

  class Batch implements FaceBatch, GeneratedFaces {
    readonly taken: number[] = [];
    private returned = 0;
    get size(): number {
      return this.taken.length;
    }
    get full(): boolean {
      return this.size === BATCH;
    }
    joins(outputIndex: number): boolean {
      return script.joins?.(outputIndex) ?? true;
    }
    take(frame: Uint8Array, outputIndex: number): number | null {
      if (script.hasFace?.(outputIndex) === false) return null;
      return this.taken.push(frame[0] ?? -1) - 1;
    }
    async infer(): Promise<Batch> {
      inFlight++;
      seen.mostInFlight = Math.max(seen.mostInFlight, inFlight);
      seen.batches.push([...this.taken]);
      try {
        await script.infer?.(this.taken);
      } finally {
        inFlight--;
      }
      return this;
    }
    put(slot: number, frame: Uint8Array): void {
      frame[1] = 100 + (this.taken[slot] ?? 0);
      this.returned++;
    }
    recycle(): void {
      seen.recycled.push([this.taken.length, this.returned]);
    }
  }
  const clip: EngineClip = {
    batchSize: BATCH,
    newBatch: () => new Batch(),
    enlargement: (outputIndex) => outputIndex / 10,
    close: async () => undefined,
  };
  const failed = new AbortController();
  const pass: RenderPass = {
    clip,
    observer: Promise.resolve({ ...blind, ...script.observer }),
    keepFilmed: script.keepFilmed ?? ((_frame, _outputIndex, put) => put()),
    outputFrames: script.frames,
    pool: createFramePool(Array.from({ length: script.buffers ?? 4 * BATCH }, () => new Uint8Array(2))),
    readFrame: async (frame) => {
      const index = reads++;
      await script.readFrame?.(index);
      frame[0] = index % 100;
      frame[1] = 0;
    },
    writeFrame: async (frame) => {
      await script.writeFrame?.(writes++);
      seen.written.push([frame[0] ?? -1, frame[1] ?? -1]);
    },
    onWritten: () => undefined,
    signal: AbortSignal.any([script.signal ?? failed.signal, failed.signal]),
    giveUp: (reason) => failed.abort(reason),
    clock: createStageClock(),
  };
  return { pass, seen };
}

/** Lets all pending promises settle. */
const turns = async (): Promise<void> => {
  for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('render pass', () => {
  test('every frame is written once, in order, with the face generated from that frame', async () => {
    const { pass, seen } = scripted({ frames: 90, infer: turns });
    await renderPass(pass);
    expect(seen.written).toEqual(Array.from({ length: 90 }, (_, i) => [i, 100 + i]));
  });

  test.each([10, 3])(
    'nothing listens to the clip any more, wherever a pass ends (of 10 frames %d come)',
    async (come) => {
      const readFrame = async (index: number): Promise<void> => {
        if (index === come) throw new Error('no more frames');
      };
      const { pass } = scripted({ frames: 10, readFrame });
      await Promise.allSettled([renderPass(pass)]);
      expect(getEventListeners(pass.signal, 'abort')).toEqual([]);
    },
  );

  test('the memory of every batch, also of the last and incomplete one, is given back once, after its last face', async () => {
    const { pass, seen } = scripted({ frames: 10, infer: turns });
    await renderPass(pass);
    expect(seen.recycled).toEqual([
      [4, 4],
      [4, 4],
      [2, 2],
    ]);
  });

  test('a frame without a face is written as it was read and takes no slot in a batch', async () => {
    const { pass, seen } = scripted({ frames: 12, hasFace: (i) => i % 3 !== 1 });
    expect(await renderPass(pass)).toBe(8);
    expect(seen.written.map(([, face]) => face > 0)).toEqual(
      Array.from({ length: 12 }, (_, i) => i % 3 !== 1),
    );
    expect(seen.batches).toEqual([
      [0, 2, 3, 5],
      [6, 8, 9, 11],
    ]);
  });

  test('a lone face among many frames without one does not stall the stream', async () => {
    const { pass, seen } = scripted({ frames: 500, hasFace: (i) => i % 200 === 3 });
    await renderPass(pass);
    expect(seen.written).toHaveLength(500);
    expect(seen.batches).toHaveLength(3);
  });

  test('a face that may not join the others starts a new batch, and the previous one is sent at once', async () => {
    const { pass, seen } = scripted({ frames: 9, joins: (i) => i !== 3 && i !== 5 });
    await renderPass(pass);
    expect(seen.batches).toEqual([
      [0, 1, 2],
      [3, 4],
      [5, 6, 7, 8],
    ]);
    expect(seen.written).toEqual(Array.from({ length: 9 }, (_, i) => [i, 100 + i]));
  });

  test('the first face of a batch is never asked whether it joins, and a refused frame without a face is not lost', async () => {
    const { pass, seen } = scripted({ frames: 6, hasFace: (i) => i !== 2, joins: () => false });
    await renderPass(pass);
    expect(seen.batches).toEqual([[0], [1], [3], [4], [5]]);
    expect(seen.written.map(([, face]) => face > 0)).toEqual([true, true, false, true, true, true]);
  });

  test('an observer learns of every frame whether its face is generated, how much enlarged, and sees it before and after', async () => {
    const looks: (number | string)[][] = [];
    const { pass } = scripted({
      frames: 3,
      hasFace: (i) => i !== 1,
      observer: {
        passed: () => looks.push(['passed']),
        taken: (enlargement) => looks.push(['taken', enlargement]),
        before: (frame, output) => looks.push(['before', output, frame[1] ?? -1]),
        after: (frame, output) => looks.push(['after', output, frame[1] ?? -1]),
      },
    });
    await renderPass(pass);
    const told = (...kinds: string[]) => looks.filter(([kind]) => kinds.includes(String(kind)));
    expect(told('passed', 'taken')).toEqual([['taken', 0], ['passed'], ['taken', 0.2]]);
    expect(told('before', 'after')).toEqual(
      [0, 2].flatMap((output) => [
        ['before', output, 0],
        ['after', output, 100 + output],
      ]),
    );
  });

  test('what stays as filmed is put back before anybody sees the face', async () => {
    const seenAfter: number[] = [];
    const { pass, seen } = scripted({
      frames: 3,
      hasFace: (i) => i !== 1,
      keepFilmed(frame, outputIndex, put) {
        put();
        if (outputIndex === 2) frame[1] = 50;
      },
      observer: { after: (frame) => seenAfter.push(frame[1] ?? -1) },
    });
    await renderPass(pass);
    expect(seen.written).toEqual([
      [0, 100],
      [1, 0],
      [2, 50],
    ]);
    expect(seenAfter).toEqual([100, 50]);
  });

  test.each([BATCH + 1, BATCH + 3, 4 * BATCH])(
    'a clip of any length passes through %d buffers, however slow the encoder and however rare the faces',
    async (buffers) => {
      const { pass, seen } = scripted({
        frames: 400,
        buffers,
        hasFace: (i) => i % 60 < 20 || i % 7 === 0,
        writeFrame: () => new Promise((go) => setImmediate(go)),
      });
      await renderPass(pass);
      expect(seen.written.map(([value]) => value)).toEqual(Array.from({ length: 400 }, (_, i) => i % 100));
    },
  );

  test('two batches are inside the engine at once, never more', async () => {
    const { pass, seen } = scripted({ frames: 60, infer: turns });
    await renderPass(pass);
    expect(seen.mostInFlight).toBe(2);
  });

  test('cancelling stops between batches: running ones are awaited, nothing further is sent or written', async () => {
    const cancel = new AbortController();
    let running = 0;
    const { pass, seen } = scripted({
      frames: 400,
      signal: cancel.signal,
      infer: async () => {
        running++;
        await turns();
        running--;
      },
      writeFrame: async (i) => {
        if (i === 5) cancel.abort(new Error('cancelled'));
      },
    });
    await expect(renderPass(pass)).rejects.toThrow('cancelled');
    expect(running).toBe(0);
    expect(seen.batches.length).toBeLessThan(6);
    const after = seen.written.length;
    await turns();
    expect(seen.written).toHaveLength(after);
  });

  test.each<[string, Partial<Script>]>([
    ['decoding', { readFrame: async (i) => failAt(i, 9) }],
    ['the engine', { infer: async (faces) => failAt(faces[0] ?? 0, 8) }],
    ['encoding', { writeFrame: async (i) => failAt(i, 9) }],
  ])(
    'a failure in %s ends the pass with that failure, whatever the other stages are waiting for',
    async (_, part) => {
      const { pass } = scripted({ frames: 400, ...part });
      await expect(renderPass(pass)).rejects.toThrow('broken');
    },
  );
});

function failAt(index: number, where: number): void {
  if (index === where) throw new Error('broken');
}
