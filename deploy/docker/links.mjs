// links.mjs FOLDER…: checks that every shared library below these folders finds everything it is linked with, in this
// very image and as its user, except the GPU driver's libraries. Asks the dynamic loader, which needs no GPU and runs
// none of their code.
import { spawnSync } from 'node:child_process';
import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LOADER = '/lib64/ld-linux-x86-64.so.2';
const DRIVER = 'libcuda.so.1';

// Packages are also reachable through links to them; each library counts once.
const libraries = new Set(
  process.argv.slice(2).flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.so(\.|$)/.test(entry.name))
      .map(({ parentPath, name }) => realpathSync(join(parentPath, name))),
  ),
);

let lacking = 0;
for (const library of libraries) {
  // Libraries in the same folder are loaded first, as ONNX Runtime does with its providers.
  const path = `${process.env.LD_LIBRARY_PATH}:${dirname(library)}`;
  const env = { LD_TRACE_LOADED_OBJECTS: '1', LD_LIBRARY_PATH: path };
  const { error, status, stdout, stderr } = spawnSync(LOADER, [library], { env, encoding: 'utf8' });
  if (error) throw error;
  const complaints = `${stdout}${stderr}`
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.includes('not found') && !line.startsWith(`${DRIVER} =>`));
  if (status === 0 && complaints.length === 0) continue;
  console.error(`${library}: ${complaints.join(', ') || stderr.trim()}`);
  lacking += 1;
}
if (lacking > 0) process.exit(1);
console.log(`${libraries.size} libraries find all that they are linked with`);
