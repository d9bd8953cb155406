import { allEnded } from './gpu-job';

test('a failure is reported once nothing is running any more', async () => {
  const events: string[] = [];
  let finish: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => (finish = resolve)).then(() => events.push('ended'));
  const all = allEnded([Promise.reject(new Error('failed')), slow]).catch(() => events.push('rejected'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual([]);
  finish();
  await all;
  expect(events).toEqual(['ended', 'rejected']);
});
