import { readdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { processBegan } from '@lipsync/local-stack';
import { testFolder } from '@lipsync/testkit';
import { FolderInUse, withFolderLock } from './lock';

describe('a folder that one process may use at a time', () => {
  const at = testFolder({ each: true });

  /** What another process left, and when it last touched it. */
  async function leave(content: object | string, ageSeconds: number): Promise<void> {
    const file = at('in-use-by.json');
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    const then = new Date(Date.now() - 1000 * ageSeconds);
    await utimes(file, then, then);
  }
  const since = '2026-11-27T12:00:00.000Z';
  const elsewhere = { token: 'a', pid: 7, began: 'then', host: 'another', since };
  const parent = process.ppid;

  test('is free again afterwards, also when the work failed', async () => {
    await expect(withFolderLock(at(), () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await expect(withFolderLock(at(), () => readdir(at()))).resolves.toEqual(['in-use-by.json']);
    await expect(readdir(at())).resolves.toEqual([]);
  });

  test.each([
    ['a process of another machine', elsewhere, 60, `by process 7 on another, since ${since}. Wait`],
    [
      'a process of this machine that somebody has stopped for a while',
      { ...elsewhere, pid: parent, began: processBegan(parent), host: hostname() },
      180,
      `by process ${parent} on ${hostname()}`,
    ],
    ['a process that is just writing who it is', '{"tok', 60, 'by a process that just started'],
  ])('is refused while %s uses it', async (_, content, age, message) => {
    await leave(content, age);
    await expect(withFolderLock(at(), () => Promise.resolve())).rejects.toThrow(`is in use ${message}`);
    await expect(readdir(at())).resolves.toEqual(['in-use-by.json']);
  });

  test.each([
    ['a process of another machine that stopped touching its file', elsewhere, 180],
    ['an unfinished file', '', 180],
    [
      'a process of this container before it was started again',
      { ...elsewhere, pid: process.pid, host: hostname() },
      0,
    ],
  ])('is taken over from %s', async (_, content, age) => {
    await leave(content, age);
    await expect(withFolderLock(at(), () => Promise.resolve('done'))).resolves.toBe('done');
    await expect(readdir(at())).resolves.toEqual([]);
  });

  test('is used by one at a time of those who find it left behind together', async () => {
    await leave(elsewhere, 180);
    let users = 0;
    let most = 0;
    const use = () =>
      withFolderLock(at(), async () => {
        most = Math.max(most, ++users);
        await readdir(at());
        users--;
      });
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => use().catch((error: unknown) => error)),
    );
    expect(most).toBe(1);
    expect(outcomes.filter((error) => error !== undefined && !(error instanceof FolderInUse))).toEqual([]);
    await expect(readdir(at())).resolves.toEqual([]);
  });
});
