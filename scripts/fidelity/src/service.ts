import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { LipSync } from '@lipsync/client';
import { writeTinyPacks } from '@lipsync/engines/test';
import { createStack, PACKS_DIR, provisionCustomer, REPOSITORY_ROOT } from '@lipsync/local-stack';

export interface Service {
  readonly api: LipSync;
  readonly stop: () => Promise<void>;
}

/** More than all cases need in a minute. */
const LIMITS = { postPerMinute: 100_000, getPerMinute: 100_000 };

/**
 * A local stack of its own. Unless a folder of packs is given, its engines run packs that cost next to nothing: what is
 * measured is everything around the networks.
 */
export async function startService(packsDir?: string): Promise<Service> {
  const parent = path.join(REPOSITORY_ROOT, '.local', 'fidelity');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(path.join(parent, 'run-'));
  const packs = packsDir ?? path.join(folder, 'packs');
  if (packsDir === undefined) {
    await mkdir(packs);
    await symlink(path.join(PACKS_DIR, 'analyzer'), path.join(packs, 'analyzer'));
    await writeTinyPacks(packs);
  }
  const stack = createStack({
    root: path.join(folder, 'stack'),
    serviceEnv: { MODEL_PACKS_DIR: path.resolve(packs) },
  });
  const stop = async (): Promise<void> => {
    await stack.down();
    stack.erase();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { base_url: baseUrl } = await stack.up();
    const state = stack.state();
    const { api_key: apiKey } = await provisionCustomer(state, 'fidelity', LIMITS);
    return { api: new LipSync({ baseUrl, apiKey }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
