// Makes the program that is published: a bundle that holds what it depends on, so that npx downloads nothing else.
// Writes it, with the licenses of what it holds, to bundle/ or to the given folder.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const dir = path.resolve(process.argv[2] ?? path.join(PACKAGE, 'bundle'));

const bundle = await rolldown({ input: { lipsync: path.join(PACKAGE, 'src', 'main.ts') }, platform: 'node' });
const { output } = await bundle.write({
  dir,
  format: 'cjs',
  entryFileNames: '[name].js',
  // What is loaded later: the lines that a terminal redraws.
  chunkFileNames: '[name].js',
  cleanDir: true,
});

chmodSync(path.join(dir, 'lipsync.js'), 0o755);

const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
// The innermost package: pnpm keeps each as node_modules/.pnpm/<name>/node_modules/<name>.
const folders = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
const notices = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no license file`);
  return `${name} ${version} (${license})\n\n${readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
});
writeFileSync(path.join(dir, 'LICENSES.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
