import { EventEmitter } from 'node:events';
import { runService, type StartService } from './run-service';
import { sharedSettings } from './shared-settings';

const picked = sharedSettings.pick({ LOG_LEVEL: true, DATABASE_URL: true });
const good = { LOG_LEVEL: 'silent', DATABASE_URL: 'postgres://localhost/x' };

/** A process that records its output and exit codes instead of ending. */
class RecordedProcess extends EventEmitter {
  readonly codes: number[] = [];
  readonly said: string[] = [];
  readonly stderr = { write: (text: string) => this.said.push(text) };

  constructor(readonly env: Record<string, string>) {
    super();
  }

  exit(code: number): void {
    this.codes.push(code);
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
