import { createLogger } from '@lipsync/runtime';
import { eventually } from '@lipsync/testkit';
import { createRinger } from './ringer';

const logger = createLogger({ service: 'test', level: 'silent' });

/** A ringer whose current ring lasts until it is released. */
function createHeldRinger() {
  const rung: string[] = [];
  let end = (): void => undefined;
  const ringer = createRinger({
    logger,
    pauseMs: 0,
    ringQueue: (queue) => {
      rung.push(queue);
      return new Promise((resolve) => (end = resolve));
    },
  });
  return { ringer, rung, release: () => end() };
}

describe('createRinger', () => {
  it('rings once, not once each, for everything that arrived during a ring', async () => {
    const { ringer, rung, release } = createHeldRinger();
    ringer.ring(['media']);
    ringer.ring(['media', 'media']);
    ringer.ring(['media']);
    expect(rung).toEqual(['media']);
    release();
    await eventually(() => expect(rung).toEqual(['media', 'media']));
    release();
    await ringer.idle();
    expect(rung).toEqual(['media', 'media']);
  });

  it('rings one queue at a time, however long it takes and whatever arrives meanwhile', async () => {
    const { ringer, rung, release } = createHeldRinger();
    for (let i = 0; i < 3; i += 1) ringer.ring(['media', 'musetalk']);
    expect(rung).toEqual(['media']);
    release();
    await eventually(() => expect(rung).toEqual(['media', 'musetalk']));
    ringer.ring(['media']);
    expect(rung).toHaveLength(2);
    release();
    await eventually(() => expect(rung).toEqual(['media', 'musetalk', 'media']));
    release();
    await ringer.idle();
    ringer.ring([]);
    ringer.ring(['latentsync']);
    expect(rung.at(-1)).toBe('latentsync');
    release();
    await ringer.idle();
  });

  it('survives a ring that fails', async () => {
    let rings = 0;
    const ringer = createRinger({
      logger,
      pauseMs: 0,
      ringQueue: async () => {
        rings += 1;
        throw new Error('no Redis');
      },
    });
    ringer.ring(['media']);
    await ringer.idle();
    ringer.ring(['media']);
    await ringer.idle();
    expect(rings).toBe(2);
  });
});
