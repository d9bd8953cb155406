// The notes of a release, from CHANGELOG.md: `node scripts/release-notes.mjs v1.2.3`.
// Fails when the tag, package.json, the chart and the changelog do not name the same version.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const read = (...names) => readFileSync(path.join(ROOT, ...names), 'utf8');

const tag = process.argv[2] ?? '';
const version = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(tag)?.[1];
if (version === undefined) fail(`not a tag of a release: ${tag === '' ? '(none)' : tag}`);

const chart = read('deploy', 'helm', 'lipsync', 'Chart.yaml');
const named = {
  'package.json': JSON.parse(read('package.json')).version,
  'Chart.yaml, version': /^version: (.+)$/m.exec(chart)?.[1],
  'Chart.yaml, appVersion': /^appVersion: (.+)$/m.exec(chart)?.[1]?.replaceAll(/['"]/g, ''),
};
for (const [where, found] of Object.entries(named))
  if (found !== version) fail(`${tag} is tagged, and ${where} says ${found}`);

const [heading, ...rest] = read('CHANGELOG.md').split(new RegExp(`^## \\[${escape(version)}\\].*$`, 'm'));
if (rest.length !== 1 || heading === undefined) fail(`CHANGELOG.md has no section for ${version}`);
const notes = rest[0]
  .split(/^## /m)[0]
  .replaceAll(/^\[.*$/gm, '')
  .trim();
if (notes === '') fail(`CHANGELOG.md says nothing about ${version}`);
process.stdout.write(`${notes}\n`);

function escape(text) {
  return text.replaceAll(/[.+-]/g, '\\$&');
}

function fail(reason) {
  process.stderr.write(`release-notes: ${reason}\n`);
  process.exit(1);
}
