import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@lipsync/testkit';
import { InferenceCrash } from './inference-error';
import { createInferenceHost } from './inference-host';

const VERIFY = { jobId: 'verify', packDirs: [] };

describe('an inference host', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'host-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('outlives a child that cannot be started, and starts another one for the next task', async () => {
    const entry = join(folder, 'child.js');
    await writeFile(entry, 'process.exit(7);');
    const program = join(folder, 'program');
    const losses: string[] = [];
    const onLost = (reason: string): void => void losses.push(reason);
    const host = createInferenceHost({ entry, program, onLost });
    await expect(host.verify(VERIFY)).rejects.toThrow(InferenceCrash);
    await symlink(process.execPath, program);
    await expect(host.verify(VERIFY)).rejects.toMatchObject({ exit: { code: 7 } });
    expect(losses).toEqual(['not_started', 'crashed']);
  });

  it('tells who ended a child: a stop that was asked for is no loss, one that it did not heed is', async () => {
    const entry = join(folder, 'deaf.js');
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
});
