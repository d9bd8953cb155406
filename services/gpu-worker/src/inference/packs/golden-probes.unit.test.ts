/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openPack } from '@lipsync/engines';
import { goldenPack } from '@lipsync/engines/test';
import { inProcessSessions } from '../../test/in-process-sessions';
import { loadPack } from './load-pack';

const GOLDEN = join(__dirname, '../../../../../packages/engines/test-data/golden');
const FOLDERS = readdirSync(GOLDEN, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test.each(FOLDERS.map(({ name }) => name))('every graph of %s computes what torch did', async (name) => {
  const sessions = inProcessSessions();
  const { directory, remove } = goldenPack(join(GOLDEN, name));
  try {
    const { run } = await loadPack(sessions, await openPack(directory), { cores: 1, probe: true });
    expect(run).toBeDefined();
  } finally {
    await sessions.close();
    remove();
  }
});
