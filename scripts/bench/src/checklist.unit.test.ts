import { createChecklist, Skipped, type StepResult } from './checklist';

test('a checklist goes on after a failure, and says of every step what became of it, at once', async () => {
  const told: StepResult[] = [];
  const { step, steps } = createChecklist((result) => void told.push(result));

  expect(await step('card', () => Promise.reject(new Error('no driver')))).toBeUndefined();
  expect(told).toMatchObject([{ step: 'card', outcome: 'failed', reason: 'no driver' }]);
  const skipped = step('render', () => {
    throw new Skipped('there is no card');
  });
  expect(await skipped).toBeUndefined();
  expect(await step('codecs', () => ({ encoder: 'libx264' }))).toEqual({ encoder: 'libx264' });

  expect(steps).toMatchObject([
    { step: 'card', outcome: 'failed', reason: 'no driver' },
    { step: 'render', outcome: 'skipped', reason: 'there is no card' },
    { step: 'codecs', outcome: 'ok', encoder: 'libx264' },
  ]);
  expect(told).toEqual(steps);
});

test('a step that is not done in time ends, what it had found stays, and the next one is done', async () => {
  const { step, steps } = createChecklist(() => undefined, 0.01);
  let aborted = false;
  const slow = step('render', async ({ found, signal, secondsLeft }) => {
    found({ load_seconds: 3 });
    found({ within: secondsLeft() <= 0.01 });
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    aborted = true;
    return new Promise<never>(() => undefined);
  });
  expect(await slow).toBeUndefined();
  expect(aborted).toBe(true);
  expect(await step('codecs', () => ({ encoder: 'libx264' }))).toEqual({ encoder: 'libx264' });
  expect(steps).toMatchObject([
    { outcome: 'failed', load_seconds: 3, within: true, reason: 'not done after 0.01 s' },
    { step: 'codecs', outcome: 'ok' },
  ]);
});
