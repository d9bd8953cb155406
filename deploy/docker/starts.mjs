// starts.mjs FILE…: each program must load all it imports. Without settings it then refuses to go on, which is the sign;
// a module that is missing shows as something else.
import { spawnSync } from 'node:child_process';

for (const file of process.argv.slice(2)) {
  const { status, stderr } = spawnSync(process.execPath, [file], { env: {}, encoding: 'utf8' });
  if (status !== 1 || !stderr.includes('the environment is not usable')) {
    console.error(`${file} ended with ${status}:\n${stderr}`);
    process.exit(1);
  }
  console.log(`${file} loads`);
}
