import { allEnded, createInOrder } from './in-order';

const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

function piece<T>(): { work: Promise<T>; end: (value: T) => void; fail: (reason: Error) => void } {
  let end: (value: T) => void = () => undefined;
  let fail: (reason: Error) => void = () => undefined;
  const work = new Promise<T>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  return { work, end, fail };
}

test('results are taken in the order of their start, whichever ends first', async () => {
  const taken: string[] = [];
  const order = createInOrder<string>(2, (result) => taken.push(result));
  const [a, b] = [piece<string>(), piece<string>()];
  await order.add(() => a.work);
  await order.add(() => b.work);
  b.end('b');
  await turns();
  expect(taken).toEqual([]);
  a.end('a');
  await order.finish();
  expect(taken).toEqual(['a', 'b']);
});

test('no more than the limit run at once', async () => {
  const order = createInOrder<string>(2, () => undefined);
  const pieces = [piece<string>(), piece<string>(), piece<string>()];
  let started = 0;
  const adding = (async () => {
    for (const { work } of pieces) {
      await order.add(() => {
        started++;
        return work;
      });
    }
  })();
  await turns();
  expect(started).toBe(2);
  pieces[0]?.end('');
  await adding;
  expect(started).toBe(3);
});

test('nothing starts after a failure, and the running pieces can be awaited', async () => {
  const taken: string[] = [];
  const order = createInOrder<string>(2, (result) => taken.push(result));
  const [a, b] = [piece<string>(), piece<string>()];
  await order.add(() => a.work);
  await order.add(() => b.work);
  a.fail(new Error('broken'));
  let started = false;
  await expect(
    order.add(() => {
      started = true;
      return b.work;
    }),
  ).rejects.toThrow('broken');
  expect(started).toBe(false);
  let settled = false;
  const settling = order.settle().then(() => (settled = true));
  await turns();
  expect(settled).toBe(false);
  b.end('b');
  await settling;
  expect(taken).toEqual([]);
});

test('all concurrent pieces have ended before a failure is reported', async () => {
  const [a, b] = [piece<string>(), piece<string>()];
  let told = false;
  const both = allEnded([a.work, b.work]).catch(() => (told = true));
  a.fail(new Error('broken'));
  await turns();
  expect(told).toBe(false);
  b.end('b');
  await both;
  expect(told).toBe(true);
});
