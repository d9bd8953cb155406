import { createLogger } from '@lipsync/runtime';
import { noTurnHangs } from './loop-health';
import { createPeriodicLoop } from './periodic-loop';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('the liveness of loops', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('holds during any pause between turns', async () => {
    const turn = async (): Promise<void> => undefined;
    const loop = createPeriodicLoop({
      ...{ name: 'purging', everyMs: 3_600_000, turn, logger },
      onTurn: () => undefined,
    });
    loop.start();
    await jest.advanceTimersByTimeAsync(3_000_000);
    await expect(noTurnHangs([loop])()).resolves.toBeUndefined();
    await loop.stop();
  });

  it('fails when a turn hangs', async () => {
    let end = (): void => undefined;
    const turn = (): Promise<void> => new Promise((resolve) => (end = resolve));
    const loop = createPeriodicLoop({
      ...{ name: 'admission', everyMs: 500, turn, logger },
      onTurn: () => undefined,
    });
    loop.start();
    await jest.advanceTimersByTimeAsync(120_000);
    await expect(noTurnHangs([loop])()).resolves.toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    await expect(noTurnHangs([loop])()).rejects.toThrow('stuck');
    end();
    await loop.stop();
  });
});
