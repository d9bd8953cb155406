import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { testFolder } from '@lipsync/testkit';
import { withLock } from './waiting';

describe('withLock', () => {
  const at = testFolder({ each: true });
  let file: string;
  beforeEach(() => {
    file = at('lock');
  });

  it('waits for a process that lives and says which, and lets the next one in when its action fails', async () => {
    writeFileSync(file, String(process.ppid));
    const waitedFor: number[] = [];
    const action = async () => {
      throw new Error(`locked by ${readFileSync(file, 'utf8')}`);
    };
    const locked = withLock(file, action, (holder) => {
      waitedFor.push(holder);
      rmSync(file);
    });
    await expect(locked).rejects.toThrow(`locked by ${process.pid}`);
    expect(waitedFor).toEqual([process.ppid]);
    expect(existsSync(file)).toBe(false);
  });

  it('takes over what a process left behind that was killed', async () => {
    writeFileSync(file, String(spawnSync('true').pid));
    const unexpected = () => {
      throw new Error('waits');
    };
    expect(await withLock(file, async () => readFileSync(file, 'utf8'), unexpected)).toBe(
      String(process.pid),
    );
  });

  it('says so where there can be no lock', async () => {
    const locked = withLock(
      at('missing', 'lock'),
      async () => 'done',
      () => undefined,
    );
    await expect(locked).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
