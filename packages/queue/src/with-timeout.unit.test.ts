import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '@lipsync/testkit';
import { DeadlineError, withTimeout } from './with-timeout';

/** As garbage collection or a busy host would: nothing of this process runs meanwhile. */
function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describe('withTimeout', () => {
  it('rejects what does not settle', async () => {
    await expect(withTimeout('silence', 30, new Promise(() => undefined))).rejects.toThrow(DeadlineError);
  });

  it('passes on what the work comes to, and its failure', async () => {
    await expect(withTimeout('work', 60_000, Promise.resolve('done'))).resolves.toBe('done');
    await expect(withTimeout('work', 60_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  it('takes an answer that came while this process stood still for longer than the deadline', async () => {
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

  it('gives a server the time that this process stood still, for a question that could not be sent before', async () => {
    const asked = withTimeout('answer', 150, later(3));
    standStill(400);
    expect(await asked).toBe('answer');
  });
});

/** Settles after so many turns of the event loop, as a question and its answer do. */
async function later(turns: number): Promise<string> {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve));
  return 'answer';
}
