// Jest's globalSetup of these tests, before module mapping applies: packages are their builds there.
import { randomBytes } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { writeTinyPacks } from '@lipsync/engines/test';
import { PACKS_DIR, REPOSITORY_ROOT } from '@lipsync/local-stack';
import { freePorts } from '@lipsync/testkit';

/** Hosts that the shared stack reaches on loopback, where one test file at a time answers for each. */
export const SHARED_HOSTS = ['media.example.test', 'hooks.example.test'] as const;
export type SharedHost = (typeof SHARED_HOSTS)[number];

/** The same for all test files of a run: a stack with other settings would have to restart. */
interface SharedStack {
  root: string;
  /** Packs of all engines that cost next to nothing, for any stack: only the demo renders with the built-in ones. */
  packs: string;
  ports: Record<SharedHost | 'collector', number>;
}

/** Announces the stack to the run's workers, which inherit the environment. */
const VARIABLE = 'LIPSYNC_E2E_STACK';

/** Names the stack that test files share, and writes its packs; the first of them that needs it starts it. */
export default async function chooseSharedStack(): Promise<void> {
  const names = [...SHARED_HOSTS, 'collector'];
  const ports = await freePorts(names.length);
  const root = path.join(REPOSITORY_ROOT, '.local', 'e2e', `shared-${randomBytes(4).toString('hex')}`);
  const packs = path.join(root, 'packs');
  await mkdir(packs, { recursive: true });
  await symlink(path.join(PACKS_DIR, 'analyzer'), path.join(packs, 'analyzer'));
  await writeTinyPacks(packs);
  process.env[VARIABLE] = JSON.stringify({
    root,
    packs,
    ports: Object.fromEntries(names.map((name, i) => [name, ports[i]])),
  });
}

export function sharedStack(): SharedStack {
  const text = process.env[VARIABLE];
  if (text === undefined) throw new Error('no shared stack: is this an end-to-end test?');
  return JSON.parse(text) as SharedStack;
}
