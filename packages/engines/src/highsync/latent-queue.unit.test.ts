import { createLatentQueue } from './latent-queue';

type Yielded = Parameters<typeof createLatentQueue>[0] extends (
  s: AbortSignal,
) => AsyncGenerator<infer T, void>
  ? T
  : never;

const NUMBER = 4;
const latentOf = (instant: number): Float32Array<ArrayBuffer> => new Float32Array(1).fill(instant);

/** Work on twelve frames in three parts of four, each of which continues until it is released. */
function heldWork() {
  const started: number[] = [];
  const ends = new Map<number, (failure?: Error) => void>();
  const signals: AbortSignal[] = [];
  async function* work(signal: AbortSignal): AsyncGenerator<Yielded, void> {
    for (let part = 0; part < 3; part++) {
      signal.throwIfAborted();
      started.push(part);
      signals.push(signal);
      yield await new Promise<Yielded>((resolve, reject) => {
        const instants = Array.from({ length: NUMBER }, (_, i) => part * NUMBER + i);
        const done = instants.map((instant) => ({ instant, latent: latentOf(instant) }));
        ends.set(part, (failure) => (failure ? reject(failure) : resolve(done)));
      });
    }
  }
  return { started, signals, work, end: (part: number, failure?: Error) => ends.get(part)?.(failure) };
}

/** Lets all pending promises settle. */
const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

const never = new AbortController().signal;

test('work starts at once, and is never more than one part ahead', async () => {
  const { started, work, end } = heldWork();
  const queue = createLatentQueue(work, never);
  expect(started).toEqual([0]);
  const first = queue.want(0);
  end(0);
  expect(await first).toEqual(latentOf(0));
  await turns();
  expect(started).toEqual([0, 1]);
  end(1);
  for (const instant of [1, 2, 3]) expect(await queue.want(instant)).toEqual(latentOf(instant));
  await turns();
  expect(started).toEqual([0, 1]);
  expect(await queue.want(4)).toEqual(latentOf(4));
  await turns();
  expect(started).toEqual([0, 1, 2]);
});

test('frames that are wanted before they are done come in order', async () => {
  const { started, work, end } = heldWork();
  const queue = createLatentQueue(work, never);
  const wanted = [2, 3, 4, 5].map((instant) => queue.want(instant));
  for (const part of [0, 1]) {
    await turns();
    expect(started).toEqual(part === 0 ? [0] : [0, 1]);
    end(part);
  }
  expect(await Promise.all(wanted)).toEqual([2, 3, 4, 5].map(latentOf));
});

test('a frame that the work never yields is refused, not waited for', async () => {
  const { work, end } = heldWork();
  const queue = createLatentQueue(work, never);
  const missing = Promise.allSettled([queue.want(12)]);
  for (const part of [0, 1, 2]) {
    await turns();
    end(part);
  }
  expect(await missing).toMatchObject([{ reason: expect.any(RangeError) as unknown }]);
});

test('an early failure is not reported until its frames are wanted, and then to everyone', async () => {
  const { work, end } = heldWork();
  const queue = createLatentQueue(work, never);
  const first = queue.want(0);
  await turns();
  end(0);
  await first;
  await turns();
  end(1, new Error('broken'));
  await turns();
  expect(await queue.want(1)).toEqual(latentOf(1));
  for (const instant of [4, 5]) await expect(queue.want(instant)).rejects.toThrow('broken');
  await queue.close();
});

test('closing stops the work in progress, waits for it and starts nothing more', async () => {
  const { started, signals, work, end } = heldWork();
  const queue = createLatentQueue(work, never);
  const wanted = Promise.allSettled([queue.want(0), queue.want(4)]);
  await turns();
  let closed = false;
  const closing = queue.close().then(() => (closed = true));
  await turns();
  expect([signals[0]?.aborted, closed]).toEqual([true, false]);
  end(0);
  await closing;
  expect(started).toEqual([0]);
  expect((await wanted).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

test('an abandoned clip starts no further part', async () => {
  const { started, work, end } = heldWork();
  const giveUp = new AbortController();
  const queue = createLatentQueue(work, giveUp.signal);
  const first = queue.want(0);
  await turns();
  giveUp.abort(new Error('cancelled'));
  end(0);
  await first;
  await expect(queue.want(4)).rejects.toThrow('cancelled');
  expect(started).toEqual([0]);
});
