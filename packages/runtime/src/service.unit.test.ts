import { EventEmitter, once } from 'node:events';
import { sharedSettings } from './env';
import { createLogger } from './logger';
import { createLifecycle, LAST_CALL_MS, runService, type StartService } from './service';

const picked = sharedSettings.pick({ LOG_LEVEL: true, DATABASE_URL: true });
const good = { LOG_LEVEL: 'silent', DATABASE_URL: 'postgres://localhost/x' };

/** A process that records its output and exit codes instead of ending. */
class RecordedProcess extends EventEmitter {
  readonly codes: number[] = [];
  readonly said: string[] = [];
  readonly stderr = { write: (text: string) => this.said.push(text) };

  constructor(readonly env: Record<string, string> = {}) {
    super();
  }

  exit(code: number): void {
    this.codes.push(code);
    this.emit('exited');
  }
}

async function run(env: Record<string, string>, start: StartService<{ DATABASE_URL: string }>) {
  const process = new RecordedProcess(env);
  await runService({ service: 'test', environment: picked, start, process });
  return process;
}

describe('runService', () => {
  it('starts nothing with invalid settings, names them on standard error, and ends with 1', async () => {
    let started = false;
    const process = await run({ LOG_LEVEL: 'silent' }, async () => void (started = true));
    expect(started).toBe(false);
    expect(process.said.join('')).toMatch(/DATABASE_URL: is missing/);
    expect(process.codes).toEqual([1]);
  });

  it('closes what a failed start had opened, and ends with 1', async () => {
    const closed: string[] = [];
    const process = await run(good, async (env, _logger, lifecycle) => {
      lifecycle.onShutdown('database', () => void closed.push(env.DATABASE_URL));
      throw new Error('the port is taken');
    });
    expect(closed).toEqual([good.DATABASE_URL]);
    expect(process.codes).toEqual([1]);
  });

  it('leaves a started service alone, until a signal ends it with 0', async () => {
    const process = await run(good, async () => undefined);
    expect(process.codes).toEqual([]);
    process.emit('SIGTERM');
    await new Promise(setImmediate);
    expect(process.codes).toEqual([0]);
  });
});

const logger = createLogger({ service: 'test', level: 'silent' });

function start(deadlineMs = 10_000) {
  const process = new RecordedProcess();
  return { process, lifecycle: createLifecycle({ logger, process, deadlineMs }) };
}

describe('lifecycle', () => {
  it('closes in reverse order of opening, once, and exits with 0 on SIGTERM', async () => {
    const { process, lifecycle } = start();
    const closed: string[] = [];
    lifecycle.onShutdown('database', () => void closed.push('database'));
    lifecycle.onShutdown('server', async () => void closed.push('server'));
    expect(lifecycle.stopping.aborted).toBe(false);
    process.emit('SIGTERM');
    expect(lifecycle.stopping.aborted).toBe(true);
    await lifecycle.shutdown('again');
    expect(closed).toEqual(['server', 'database']);
    expect(process.codes).toEqual([0]);
  });

  it('closes what is opened during the shutdown before what was opened earlier', async () => {
    const { process, lifecycle } = start();
    const closed: string[] = [];
    lifecycle.onShutdown('database', () => void closed.push('database'));
    lifecycle.onShutdown('server', async () => {
      lifecycle.onShutdown('late', () => void closed.push('late'));
      closed.push('server');
    });
    await lifecycle.shutdown('test');
    expect(closed).toEqual(['server', 'late', 'database']);
    expect(process.codes).toEqual([0]);
  });

  it('gives a last call before the deadline, so that what follows a waiting part is closed', async () => {
    const { process, lifecycle } = start(LAST_CALL_MS + 1);
    let closed = false;
    lifecycle.onShutdown('database', () => void (closed = true));
    lifecycle.onShutdown('server', async () => void (await once(lifecycle.lastCall, 'abort')));
    expect(lifecycle.lastCall.aborted).toBe(false);
    await lifecycle.shutdown('test');
    expect(closed).toBe(true);
    expect(process.codes).toEqual([0]);
  });

  it('closes the rest if one part fails, and exits with 1', async () => {
    const { process, lifecycle } = start();
    let closed = false;
    lifecycle.onShutdown('first', () => void (closed = true));
    lifecycle.onShutdown('second', () => Promise.reject(new Error('stuck')));
    await lifecycle.shutdown('test');
    expect(closed).toBe(true);
    expect(process.codes).toEqual([1]);
  });

  it('exits with 1 after an unhandled error', async () => {
    const { process, lifecycle } = start();
    process.emit('unhandledRejection', new Error('bug'));
    await lifecycle.shutdown('test');
    expect(process.codes).toEqual([1]);
  });

  it('ends at once on a second signal', async () => {
    const { process, lifecycle } = start();
    let close: () => void = () => undefined;
    lifecycle.onShutdown('slow', () => new Promise((resolve) => (close = resolve)));
    process.emit('SIGINT');
    process.emit('SIGINT');
    expect(process.codes).toEqual([1]);
    close();
    await lifecycle.shutdown('test');
  });

  it('ends at the deadline if a part does not close', async () => {
    const { process, lifecycle } = start(1);
    const exited = new Promise((resolve) => process.once('exited', resolve));
    lifecycle.onShutdown('stuck', () => new Promise(() => undefined));
    void lifecycle.shutdown('test');
    await exited;
    expect(process.codes).toEqual([1]);
  });
});
