import { createLogger } from '@lipsync/runtime';
import { createKeyUse } from './key-use';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('createKeyUse', () => {
  it("records a key's use at most once a minute", () => {
    let now = 0;
    const touched: string[] = [];
    const noteUse = createKeyUse({
      clock: { now: () => now },
      logger,
      touch: async (keyId) => void touched.push(keyId),
    });
    noteUse('key_1');
    now = 59_999;
    noteUse('key_1');
    noteUse('key_2');
    now = 60_000;
    noteUse('key_1');
    expect(touched).toEqual(['key_1', 'key_2', 'key_1']);
  });

  it('tries again after a failed write, without affecting the caller', async () => {
    let attempts = 0;
    const noteUse = createKeyUse({
      clock: { now: () => 0 },
      logger,
      touch: async () => {
        attempts += 1;
        throw new Error('no database');
      },
    });
    noteUse('key_1');
    await new Promise(setImmediate);
    noteUse('key_1');
    expect(attempts).toBe(2);
  });
});
