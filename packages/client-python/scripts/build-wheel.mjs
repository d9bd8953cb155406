// Packs src/ as a wheel into dist/, without Python: the machines and images that build the service need none. The same
// sources give the same bytes everywhere (https://packaging.python.org/en/latest/specifications/binary-distribution-format/).
// `node scripts/build-wheel.mjs DIR` writes to DIR instead.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { zipSync } from 'fflate';
import { parse } from 'smol-toml';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const at = (...names) => path.join(root, ...names);
const out = path.resolve(process.argv[2] ?? at('dist'));

const { project } = parse(readFileSync(at('pyproject.toml'), 'utf8'));
const stem = `${project.name.replaceAll('-', '_')}-${project.version}`;

/** What it holds, by path. The folder of the metadata comes last, and in it the record of everything. */
const files = new Map(
  readdirSync(at('src'), { recursive: true })
    .filter((name) => /\.py$|[/\\]py\.typed$/.test(name))
    .map((name) => name.replaceAll(path.sep, '/'))
    .sort()
    .map((name) => [name, readFileSync(at('src', name))]),
);
for (const name of project['license-files'])
  files.set(`${stem}.dist-info/licenses/${name}`, readFileSync(at(name)));
files.set(`${stem}.dist-info/METADATA`, Buffer.from(metadata()));
files.set(
  `${stem}.dist-info/WHEEL`,
  Buffer.from('Wheel-Version: 1.0\nGenerator: build-wheel.mjs\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
);
const record = [...files].map(([name, bytes]) => {
  const digest = createHash('sha256').update(bytes).digest('base64url');
  return `${name},sha256=${digest},${bytes.length}\n`;
});
files.set(`${stem}.dist-info/RECORD`, Buffer.from(`${record.join('')}${stem}.dist-info/RECORD,,\n`));

// A zip holds local times. Readable by all, as files of Unix.
const attributes = { mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 << 16, level: 9 };
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeFileSync(
  path.join(out, `${stem}-py3-none-any.whl`),
  zipSync(Object.fromEntries([...files].map(([name, bytes]) => [name, [bytes, attributes]]))),
);

/** https://packaging.python.org/en/latest/specifications/core-metadata/ */
function metadata() {
  const fields = [
    ['Metadata-Version', '2.4'],
    ['Name', project.name],
    ['Version', project.version],
    ['Summary', project.description],
    ['Keywords', project.keywords.join(',')],
    ['License-Expression', project.license],
    ...project['license-files'].map((name) => ['License-File', name]),
    ...project.classifiers.map((classifier) => ['Classifier', classifier]),
    ['Requires-Python', project['requires-python']],
    ['Description-Content-Type', 'text/markdown'],
  ];
  const readme = readFileSync(at(project.readme), 'utf8');
  return `${fields.map(([name, value]) => `${name}: ${value}\n`).join('')}\n${readme}`;
}
