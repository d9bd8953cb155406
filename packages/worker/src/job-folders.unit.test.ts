import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJobFolders } from './job-folders';

describe('folders of jobs', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'folders-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  test('leftovers of a killed process are removed before the first job begins', async () => {
    await writeFile(join(root, 'half-a-video'), 'x');
    await createJobFolders(root);
    expect(await readdir(root)).toEqual([]);
  });

  test('a folder is removed when the job fails, and its error is passed on', async () => {
    const folders = await createJobFolders(root);
    const work = folders.using('job_1', async (folder) => {
      await writeFile(join(folder, 'video'), 'x');
      throw new Error('no face');
    });
    await expect(work).rejects.toThrow('no face');
    expect(await readdir(root)).toEqual([]);
  });

  test('a job that is claimed again while its lost attempt winds down gets a folder of its own', async () => {
    const folders = await createJobFolders(root);
    const files = await folders.using('job_1', async (lost) => {
      await folders.using('job_1', (again) => writeFile(join(again, 'new'), 'x'));
      await writeFile(join(lost, 'old'), 'x');
      return readdir(lost);
    });
    expect(files).toEqual(['old']);
  });
});
