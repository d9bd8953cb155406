import { getEventListeners } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { eventually, testFolder } from '@lipsync/testkit';
import { type TaskPack } from '../protocol/messages';
import { InferenceCrash, InferenceFailure } from './inference-error';
import { createInferenceHost, type InferenceHost } from './inference-host';

const VERIFY = { jobId: 'verify', packDirs: [] };
/** The Node of the images knows the option, older ones do not. */
const whereOffered = process.allowedNodeEnvironmentFlags.has('--disable-sigusr1') ? it : it.skip;

describe('an inference host', () => {
  const at = testFolder({ each: true });

  it('outlives a child that cannot be started, and starts another one for the next task', async () => {
    const entry = at('child.js');
    await writeFile(entry, 'process.exit(7);');
    const program = at('program');
    const losses: string[] = [];
    const onLost = (reason: string): void => void losses.push(reason);
    const host = createInferenceHost({ entry, program, onLost });
    await expect(host.verify(VERIFY)).rejects.toThrow(InferenceCrash);
    await symlink(process.execPath, program);
    await expect(host.verify(VERIFY)).rejects.toMatchObject({ exit: { code: 7 } });
    expect(losses).toEqual(['not_started', 'crashed']);
  });

  whereOffered('starts children whose debugger no signal opens', async () => {
    const entry = at('started.js');
    await writeFile(entry, "process.exit(process.execArgv.includes('--disable-sigusr1') ? 7 : 8);");
    await expect(createInferenceHost({ entry }).verify(VERIFY)).rejects.toMatchObject({ exit: { code: 7 } });
  });

  it('tells who ended a child: a stop that was asked for is no loss, one that it did not heed is', async () => {
    const entry = at('deaf.js');
    await writeFile(entry, "process.on('message', () => undefined);");
    const losses: string[] = [];
    const onLost = (reason: string): void => void losses.push(reason);
    const host = createInferenceHost({ entry, onLost, cancelGraceMs: 1 });
    const deaf = host.verify(VERIFY, { signal: AbortSignal.abort() });
    await expect(deaf).rejects.toMatchObject({ exit: { signal: 'SIGKILL' } });
    expect(losses).toEqual(['unresponsive']);

    const asked = host.verify(VERIFY);
    host.kill();
    await expect(asked).rejects.toThrow(InferenceCrash);
    const outside = host.verify(VERIFY);
    const pid = await eventually(() => {
      const found = host.pid();
      if (found === undefined) throw new Error('not started');
      return found;
    });
    process.kill(pid, 'SIGKILL');
    await expect(outside).rejects.toThrow(InferenceCrash);
    expect(losses).toEqual(['unresponsive', 'killed']);
  });

  it('ends a child that gives no sign of life, and says that it hung', async () => {
    const entry = at('hanging.js');
    await writeFile(entry, "process.on('message', () => undefined);");
    const losses: string[] = [];
    const host = createInferenceHost({ entry, silenceMs: 8, onLost: (reason) => void losses.push(reason) });
    await expect(host.verify(VERIFY)).rejects.toMatchObject({ exit: { signal: 'SIGKILL' }, hung: true });
    expect(losses).toEqual(['silent']);
  });

  it('leaves a child alone that answers, for however long it works', async () => {
    const entry = at('busy.js');
    // The task finishes after more pings than may go unanswered.
    await writeFile(
      entry,
      `let jobId, asked = 0;
       process.on('message', (message) => {
         if (message.type === 'verify') return (jobId = message.jobId);
         process.send({ type: 'pong' });
         if (++asked === 9) process.send({ type: 'done', jobId, result: { type: 'verify', packs: [] } });
       });`,
    );
    const losses: string[] = [];
    const host = createInferenceHost({
      entry,
      silenceMs: 3_000,
      onLost: (reason) => void losses.push(reason),
    });
    await expect(host.verify(VERIFY)).resolves.toMatchObject({ packs: [] });
    expect(losses).toEqual([]);
    host.kill();
  });

  it('leaves nothing behind of a task that has ended: it would stop the child during a later one', async () => {
    const entry = at('obedient.js');
    await writeFile(
      entry,
      `process.on('message', ({ type, jobId }) => {
         if (type === 'cancel') process.send({ type: 'failed', jobId, code: 'cancelled', detail: 'stopped' });
         if (jobId === 'quick') process.send({ type: 'done', jobId, result: { type: 'verify', packs: [] } });
       });`,
    );
    const host = createInferenceHost({ entry });
    const started = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'setInterval')];
    const cleared = [jest.spyOn(globalThis, 'clearTimeout'), jest.spyOn(globalThis, 'clearInterval')];
    const [stop, unused] = [new AbortController(), new AbortController()];
    const stopped = host.verify(VERIFY, { signal: stop.signal });
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' });
    await host.verify({ ...VERIFY, jobId: 'quick' }, { signal: unused.signal });
    const timers: unknown[] = started.flatMap(({ mock }) =>
      mock.results.map(({ value }) => value as unknown),
    );
    const ended = cleared.flatMap(({ mock }) => mock.calls.map(([timer]): unknown => timer));
    jest.restoreAllMocks();
    // One to kill the child that does not heed the cancel, and one per task to listen for signs of life.
    expect(timers).toHaveLength(3);
    expect(ended).toEqual(expect.arrayContaining(timers));
    expect(getEventListeners(unused.signal, 'abort')).toEqual([]);
    host.kill();
  });

  it('quotes a child that crashed to the end, also with what arrives after its exit', async () => {
    const entry = at('crashing.js');
    // The shell waits until the child is gone.
    await writeFile(
      entry,
      `const wait = \`while kill -0 \${process.pid} 2>/dev/null; do :; done; echo why >&2\`;
       require('node:child_process').spawn('/bin/sh', ['-c', wait], { stdio: ['ignore', 'ignore', 'inherit'] });
       process.on('message', () => process.exit(1));`,
    );
    const crashing = createInferenceHost({ entry }).verify(VERIFY);
    await expect(crashing).rejects.toMatchObject({ exit: { code: 1 }, stderr: 'why' });
  });

  it('does not take what a child says of another job for the outcome of its own', async () => {
    const entry = at('late.js');
    await writeFile(
      entry,
      `process.on('message', ({ jobId }) => {
         process.send({ type: 'failed', jobId: 'earlier', code: 'cancelled', detail: 'stopped' });
         process.send({ type: 'done', jobId, result: { type: 'verify', packs: [] } });
       });`,
    );
    const host = createInferenceHost({ entry });
    await expect(host.verify(VERIFY)).resolves.toMatchObject({ packs: [] });
    host.kill();
  });

  describe('of a child whose graph failed', () => {
    const CPU = { dir: '/packs/analyzer', digest: 'a', provider: 'cpu' } as const;
    const GPU = { dir: '/packs/musetalk', digest: 'm', provider: 'cuda' } as const;
    let host: InferenceHost;
    let losses: string[];
    beforeEach(async () => {
      const entry = at('failing.js');
      await writeFile(
        entry,
        `process.on('message', ({ jobId }) => process.send(jobId.startsWith('good')
           ? { type: 'done', jobId, result: {
               type: 'analyze',
               gpuInferenceMs: jobId.includes('nothing to do') ? null : 1,
               graphFailed: jobId.includes('in part'),
             } }
           : { type: 'failed', jobId, code: 'engine_failed', detail: 'CUDA error 700', graphFailed: true }));`,
      );
      losses = [];
      host = createInferenceHost({ entry, onLost: (reason) => void losses.push(reason) });
    });
    afterEach(() => host.kill());

    /** How a job ends: its failure's code, or 'done'. */
    async function outcome(jobId: string, pack: TaskPack = GPU): Promise<string> {
      const engines = [{ engine: 'musetalk' as const, pack, featuresPath: '' }];
      const task = { jobId, analyzer: CPU, videoPath: '', trackPath: '', engines };
      try {
        await host.analyze(task);
        return 'done';
      } catch (error) {
        return error instanceof InferenceFailure ? error.code : String(error);
      }
    }

    it('lets the next task have a fresh one: on a GPU every later call in that process would fail', async () => {
      expect(await outcome('a')).toBe('engine_failed');
      expect(host.pid()).toBeUndefined();
      expect(await outcome('good')).toBe('done');
      expect(losses).toEqual(['graph_failed']);
    });

    it('lets the next task have a fresh one even if the graph was not needed for the result', async () => {
      expect(await outcome('good in part')).toBe('done');
      expect(host.pid()).toBeUndefined();
      expect(losses).toEqual(['graph_failed']);
      // Other graphs ran there, so the device is not lost when another job fails.
      expect(await outcome('b')).toBe('engine_failed');
    });

    it('keeps it where the graph ran on the CPU', async () => {
      expect([await outcome('a', CPU), await outcome('b', CPU)]).toEqual(['engine_failed', 'engine_failed']);
      expect(await outcome('good in part', CPU)).toBe('done');
      expect(host.pid()).toBeDefined();
      expect(losses).toEqual([]);
    });

    it('gives the device up when a fresh one fails another job, with nothing run there since', async () => {
      expect(await outcome('a')).toBe('engine_failed');
      expect(await outcome('good, and nothing to do on the GPU')).toBe('done');
      expect(await outcome('b')).toBe('device_lost');
    });

    it('does not give it up for one job that fails wherever it runs, nor for failures now and then', async () => {
      expect([await outcome('a'), await outcome('a')]).toEqual(['engine_failed', 'engine_failed']);
      expect([await outcome('good'), await outcome('b')]).toEqual(['done', 'engine_failed']);
    });
  });
});
