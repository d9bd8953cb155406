// starts.mjs FILE…: checks that each program can load all its imports. Without settings it then refuses to start, which
// is the expected result; a missing module fails differently.
import { spawnSync } from 'node:child_process';

for (const file of process.argv.slice(2)) {
  const { status, stderr } = spawnSync(process.execPath, [file], { env: {}, encoding: 'utf8' });
  if (status !== 1 || !stderr.includes('missing or invalid environment variables')) {
    console.error(`${file} ended with ${status}:\n${stderr}`);
    process.exit(1);
  }
  console.log(`${file} loads`);
}
