import { writeFileSync } from 'node:fs';
import { testFolder } from '@lipsync/testkit';
import { slotsOf } from './measured-renders';

describe('slotsOf', () => {
  const at = testFolder();
  const logged = (...lines: readonly object[]): string => {
    writeFileSync(at('webhook-dispatcher.log'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return at();
  };

  it('is that of the running process, not of an earlier one with a different configuration', () => {
    const logs = logged(
      { slots: 64, message: 'started' },
      { slots: 1, message: 'stopping' },
      { slots: 256, message: 'started' },
      { event: 'webhook_attempt', message: 'webhook_attempt' },
    );
    expect(slotsOf(logs, 'webhook-dispatcher')).toBe(256);
  });

  it('is never guessed', () => {
    const logs = logged({ event: 'webhook_attempt', message: 'webhook_attempt' });
    expect(() => slotsOf(logs, 'webhook-dispatcher')).toThrow(
      'webhook-dispatcher did not say how many slots it has',
    );
  });
});
