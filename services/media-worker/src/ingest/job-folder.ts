import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Working folders of jobs under one root that belongs to this process alone. */
export interface JobFolders {
  /** Runs `work` with an empty folder of its own, which is removed afterwards whatever happens. */
  using<T>(work: (folder: string) => Promise<T>): Promise<T>;
}

/** Removes what an earlier process left behind when it was killed. */
export async function createJobFolders(root: string): Promise<JobFolders> {
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  return {
    using: async (work) => {
      const folder = await mkdtemp(join(root, 'job-'));
      try {
        return await work(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
