// Prints the notes of a release, from CHANGELOG.md: `node scripts/release-notes.mjs v1.2.3`. Fails when the tag, the
// changelog and all places that set-version.mjs writes do not name the same version. A candidate such as v1.2.3-rc.1
// must match the final version, 1.2.3, because it becomes the release unchanged.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, VERSION_PLACES } from './version-places.mjs';

const read = (name) => readFileSync(path.join(ROOT, name), 'utf8');

const tag = process.argv[2] ?? '';
const version = /^v(\d+\.\d+\.\d+)(?:-[0-9A-Za-z.-]+)?$/.exec(tag)?.[1];
if (version === undefined) fail(`not a tag of a release: ${tag === '' ? '(none)' : tag}`);

for (const { file, pattern } of VERSION_PLACES) {
  const found = pattern.exec(read(file))?.[0];
  if (found !== version) fail(`${tag} is tagged, and ${file} says ${found ?? 'nothing'}`);
}

const heading = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\].*$`, 'm');
const [, section, ...more] = read('CHANGELOG.md').split(heading);
if (section === undefined || more.length > 0) fail(`CHANGELOG.md has no section for ${version}`);
const notes = section
  .split(/^## /m)[0]
  .replaceAll(/^\[.*$/gm, '')
  .trim();
if (notes === '') fail(`CHANGELOG.md says nothing about ${version}`);
process.stdout.write(`${notes}\n`);

function fail(reason) {
  process.stderr.write(`release-notes: ${reason}\n`);
  process.exit(1);
}
