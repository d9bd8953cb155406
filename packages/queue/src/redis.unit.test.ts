import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '@lipsync/testkit';
import { DeadlineError, withTimeout } from './redis';

/** Blocks this process, as garbage collection or a busy host would. */
function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describe('withTimeout', () => {
  it('rejects if the promise does not settle', async () => {
    await expect(withTimeout('silence', 30, new Promise(() => undefined))).rejects.toThrow(DeadlineError);
  });

  it('leaves no timer behind, which would keep a process alive that is done', async () => {
    jest.useFakeTimers();
    try {
      await withTimeout('work', 60_000, Promise.resolve('done'));
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('accepts an answer that came while this process was suspended for longer than the deadline', async () => {
    const server = createServer();
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect(await listenOnLoopback(server), '127.0.0.1');
    const [[peer]] = await Promise.all([accepted, once(client, 'connect')]);
    try {
      const answer = once(client, 'data');
      peer.write('answer');
      const waited = withTimeout('answer', 150, answer);
      standStill(300);
      expect(String(await waited)).toBe('answer');
    } finally {
      client.destroy();
      peer.destroy();
      server.close();
    }
  });

  it('grants the server the time during which this process was suspended, for a request that could not be sent before', async () => {
    const asked = withTimeout('answer', 150, later(3));
    standStill(400);
    expect(await asked).toBe('answer');
  });
});

/** Settles after this many turns of the event loop, like a request and its response. */
async function later(turns: number): Promise<string> {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve));
  return 'answer';
}
