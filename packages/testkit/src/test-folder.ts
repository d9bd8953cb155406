import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * An empty folder for the tests of the file, or of the block, that calls this, or with `each` a new one for every test.
 * Returns what makes paths in it. It is gone before the hooks that are defined after it.
 */
export function testFolder({ each = false } = {}): (...names: string[]) => string {
  let folder = '';
  const make = async (): Promise<void> => {
    folder = await mkdtemp(join(tmpdir(), 'lipsync-test-'));
  };
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  if (each) {
    beforeEach(make);
    afterEach(remove);
  } else {
    beforeAll(make);
    afterAll(remove);
  }
  return (...names) => {
    if (folder === '')
      throw new Error('the folder is made by a hook, so it is there in hooks and tests alone');
    return join(folder, ...names);
  };
}
