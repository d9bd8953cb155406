// Writes the version of the next release to every place that states it: `node scripts/set-version.mjs 1.2.3`.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, VERSION_PLACES } from './version-places.mjs';

const version = process.argv[2] ?? '';
// A candidate of X.Y.Z states X.Y.Z: only its tag says which candidate it is.
if (!/^\d+\.\d+\.\d+$/.test(version)) fail(`not a version X.Y.Z: ${version === '' ? '(none)' : version}`);

for (const { file, pattern } of VERSION_PLACES) {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  if (!pattern.test(text)) fail(`${file} has no place for a version`);
  writeFileSync(path.join(ROOT, file), text.replace(pattern, version));
}

function fail(reason) {
  process.stderr.write(`set-version: ${reason}\n`);
  process.exit(1);
}
