import { createChecklist, Skipped } from './checklist';

test('a checklist goes on after a failure, and says of every step what became of it', async () => {
  const lines: string[] = [];
  const { step, steps } = createChecklist((line) => lines.push(line));

  expect(await step('card', () => Promise.reject(new Error('no driver')))).toBeUndefined();
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
  expect(lines).toEqual([
    expect.stringMatching(/^failed .* card: no driver$/),
    expect.stringMatching(/^skipped .* render: there is no card$/),
    expect.stringMatching(/^ok .* codecs$/),
  ]);
});
