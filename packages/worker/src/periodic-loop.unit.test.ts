import { createLogger } from '@lipsync/runtime';
import { createPeriodicLoop, noTurnHangs } from './periodic-loop';

const EVERY_MS = 1_000;

describe('a loop', () => {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  });
  let turns: number;
  let fail: boolean;
  const outcomes: string[] = [];
  const onTurn = (outcome: string): void => void outcomes.push(outcome);
  const turn = async (): Promise<void> => {
    turns += 1;
    if (fail) throw new Error('away');
  };

  beforeEach(() => {
    jest.useFakeTimers();
    lines.length = 0;
    outcomes.length = 0;
    turns = 0;
    fail = false;
  });
  afterEach(() => jest.useRealTimers());

  it('takes its first turn at once and then one per period', async () => {
    const loop = createPeriodicLoop({ name: 'x', everyMs: EVERY_MS, turn, onTurn, logger });
    loop.start();
    await jest.advanceTimersByTimeAsync(3 * EVERY_MS);
    expect(turns).toBe(4);
    await loop.stop();
    await jest.advanceTimersByTimeAsync(3 * EVERY_MS);
    expect(turns).toBe(4);
  });

  it('goes on after a failed turn, and logs the beginning and the end of the trouble once each', async () => {
    fail = true;
    const loop = createPeriodicLoop({ name: 'x', everyMs: EVERY_MS, turn, onTurn, logger });
    loop.start();
    await jest.advanceTimersByTimeAsync(5 * EVERY_MS);
    fail = false;
    await jest.advanceTimersByTimeAsync(5 * EVERY_MS);
    await loop.stop();
    expect(turns).toBe(11);
    expect(lines).toHaveLength(2);
    expect(outcomes).toEqual([...Array<string>(6).fill('failed'), ...Array<string>(5).fill('completed')]);
  });

  it('reports how long a turn has been under way, excluding the pause after it', async () => {
    let end = (): void => undefined;
    const hanging = (): Promise<void> => new Promise((resolve) => (end = resolve));
    const loop = createPeriodicLoop({ name: 'x', everyMs: 3_600_000, turn: hanging, onTurn, logger });
    loop.start();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(loop.busyMs()).toBe(5_000);
    end();
    await jest.advanceTimersByTimeAsync(3_000_000);
    expect(loop.busyMs()).toBe(0);
    await loop.stop();
  });

  it('counts its period from the turn for which it was woken', async () => {
    const loop = createPeriodicLoop({ name: 'x', everyMs: EVERY_MS, turn, onTurn, logger });
    loop.start();
    await jest.advanceTimersByTimeAsync(EVERY_MS / 2);
    loop.wake();
    await jest.advanceTimersByTimeAsync(EVERY_MS - 1);
    expect(turns).toBe(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(turns).toBe(3);
    await loop.stop();
  });

  it('starts at once when woken, and never runs two turns at once', async () => {
    let under = 0;
    let most = 0;
    let ended = 0;
    const loop = createPeriodicLoop({
      name: 'x',
      everyMs: EVERY_MS,
      onTurn,
      logger,
      turn: async () => {
        under += 1;
        most = Math.max(most, under);
        await new Promise((resolve) => setTimeout(resolve, 100));
        under -= 1;
        ended += 1;
      },
    });
    loop.start();
    loop.wake();
    loop.wake();
    await jest.advanceTimersByTimeAsync(250);
    await loop.stop();
    expect({ most, ended }).toEqual({ most: 1, ended: 2 });
  });
});

describe('the liveness of loops', () => {
  const logger = createLogger({ service: 'test', level: 'silent' });

  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('holds during any pause between turns', async () => {
    const turn = async (): Promise<void> => undefined;
    const loop = createPeriodicLoop({
      name: 'purging',
      everyMs: 3_600_000,
      turn,
      logger,
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
      name: 'enqueueing',
      everyMs: 500,
      turn,
      logger,
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
