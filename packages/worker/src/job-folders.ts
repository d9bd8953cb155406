import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Working folders of jobs, under a root that belongs to this process alone. */
export interface JobFolders {
  /**
   * Runs `work` with an empty folder of its own, and always removes the folder afterwards. If a job is claimed again
   * while its lost attempt is still winding down, the new attempt gets another folder.
   */
  using<T>(jobId: string, work: (folder: string) => Promise<T>): Promise<T>;
}

/** Creates the root, and removes what a killed process left there. */
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
