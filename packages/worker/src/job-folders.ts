import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Working folders of jobs under one root that belongs to this process alone. */
export interface JobFolders {
  /**
   * Runs `work` with an empty folder of its own, which is removed afterwards whatever happens. A job that is claimed
   * again while its lost attempt still winds up gets another folder.
   */
  using<T>(jobId: string, work: (folder: string) => Promise<T>): Promise<T>;
}

/** Removes what an earlier process left behind when it was killed. */
export async function createJobFolders(root: string): Promise<JobFolders> {
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  return {
    using: async (jobId, work) => {
      const folder = await mkdtemp(join(root, `${jobId}-`));
      try {
        return await work(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
