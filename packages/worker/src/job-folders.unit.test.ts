import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testFolder } from '@lipsync/testkit';
import { createJobFolders } from './job-folders';

describe('folders of jobs', () => {
  const at = testFolder({ each: true });

  test('leftovers of a killed process are removed before the first job begins', async () => {
    await writeFile(at('half-a-video'), 'x');
    await createJobFolders(at());
    expect(await readdir(at())).toEqual([]);
  });

  test('a folder is removed when the job fails, and its error is passed on', async () => {
    const folders = await createJobFolders(at());
    const work = folders.using('job_1', async (folder) => {
      await writeFile(join(folder, 'video'), 'x');
      throw new Error('no face');
    });
    await expect(work).rejects.toThrow('no face');
    expect(await readdir(at())).toEqual([]);
  });

  test('a job that is claimed again while its lost attempt winds down gets a folder of its own', async () => {
    const folders = await createJobFolders(at());
    const files = await folders.using('job_1', async (lost) => {
      await folders.using('job_1', (again) => writeFile(join(again, 'new'), 'x'));
      await writeFile(join(lost, 'old'), 'x');
      return readdir(lost);
    });
    expect(files).toEqual(['old']);
  });
});
