import { createStretchQueue } from './face-batch';

/** Work that continues until it is released. */
function heldWork() {
  const started: number[] = [];
  const ends = new Map<number, (failure?: Error) => void>();
  const signals: AbortSignal[] = [];
  const work = (index: number, signal: AbortSignal): Promise<string> => {
    started.push(index);
    signals.push(signal);
    return new Promise((resolve, reject) => {
      ends.set(index, (failure) => (failure ? reject(failure) : resolve(`result ${index}`)));
    });
  };
  return { started, signals, work, end: (index: number, failure?: Error) => ends.get(index)?.(failure) };
}

/** Lets all pending promises settle. */
const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

const never = new AbortController().signal;

test('a stretch starts when it is wanted, the next one when it is done, and no further one', async () => {
  const { started, work, end } = heldWork();
  const queue = createStretchQueue(5, work, never);
  await turns();
  expect(started).toEqual([]);
  const first = queue.want(0);
  await turns();
  expect(started).toEqual([0]);
  end(0);
  expect(await first).toBe('result 0');
  await turns();
  expect(started).toEqual([0, 1]);
  end(1);
  await turns();
  expect(started).toEqual([0, 1]);
  expect(await queue.want(1)).toBe('result 1');
  await turns();
  expect(started).toEqual([0, 1, 2]);
});

test('stretches run one at a time, even when the next is wanted before the first is done', async () => {
  const { started, work, end } = heldWork();
  const queue = createStretchQueue(3, work, never);
  const wanted = [queue.want(0), queue.want(0), queue.want(1)];
  await turns();
  expect(started).toEqual([0]);
  end(0);
  await turns();
  expect(started).toEqual([0, 1]);
  end(1);
  expect(await Promise.all(wanted)).toEqual(['result 0', 'result 0', 'result 1']);
});

test('an early failure is not reported until its stretch is wanted', async () => {
  const { work, end } = heldWork();
  const queue = createStretchQueue(2, work, never);
  const first = queue.want(0);
  await turns();
  end(0);
  await first;
  await turns();
  end(1, new Error('broken'));
  await turns();
  await expect(queue.want(1)).rejects.toThrow('broken');
  await queue.close();
});

test('closing stops the work in progress, waits for it and starts nothing more', async () => {
  const { started, signals, work, end } = heldWork();
  const queue = createStretchQueue(3, work, never);
  const wanted = Promise.allSettled([queue.want(0), queue.want(1)]);
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

test('an abandoned clip starts no further stretch', async () => {
  const { started, work, end } = heldWork();
  const giveUp = new AbortController();
  const queue = createStretchQueue(2, work, giveUp.signal);
  const first = queue.want(0);
  await turns();
  giveUp.abort(new Error('cancelled'));
  end(0);
  await first;
  await expect(queue.want(1)).rejects.toThrow('cancelled');
  expect(started).toEqual([0]);
});
