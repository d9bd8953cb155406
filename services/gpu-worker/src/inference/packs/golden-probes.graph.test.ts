import { join } from 'node:path';
import { openPack } from '@lipsync/engines';
import { goldenPack, goldenPacks } from '@lipsync/engines/test';
import { inProcessSessions } from '../../test/in-process-sessions';
import { loadPack } from './load-pack';

const GOLDEN = join(__dirname, '../../../../../packages/engines/test-data/golden');

test.each(goldenPacks(GOLDEN))('every graph of $name computes what torch did', async (pack) => {
  const sessions = inProcessSessions();
  const { directory, remove } = goldenPack(pack.directory);
  try {
    const { run } = await loadPack(sessions, await openPack(directory), { cores: 1, probe: true });
    expect(run).toBeDefined();
  } finally {
    await sessions.close();
    remove();
  }
});
