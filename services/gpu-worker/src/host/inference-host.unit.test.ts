import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    const host = createInferenceHost({ entry, program });
    await expect(host.verify(VERIFY)).rejects.toThrow(InferenceCrash);
    await symlink(process.execPath, program);
    await expect(host.verify(VERIFY)).rejects.toMatchObject({ exit: { code: 7 } });
  });
});
