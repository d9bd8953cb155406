// Makes the program that is published: a bundle that holds what it depends on, so that npx downloads nothing else.
// Writes it, with the licenses of what it holds, to bundle/ or to the given folder.
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const dir = path.resolve(process.argv[2] ?? path.join(PACKAGE, 'bundle'));

/** Compiled code that a package's own code reads, not imports; it lies beside the bundle. */
const WASM = '@contentauth/c2pa-wasm/c2pa.wasm';
const besideTheBundle = {
  name: 'beside-the-bundle',
  transform: (code) => (code.includes(WASM) ? code.replace(WASM, './c2pa.wasm') : null),
};

const bundle = await rolldown({
  input: { lipsync: path.join(PACKAGE, 'src', 'main.ts') },
  platform: 'node',
  plugins: [besideTheBundle],
});
const { output } = await bundle.write({
  dir,
  format: 'cjs',
  entryFileNames: '[name].js',
  // What is loaded later: the lines that a terminal redraws, the reader of content credentials, the tools of agents.
  chunkFileNames: '[name].js',
  cleanDir: true,
});

copyFileSync(createRequire(import.meta.url).resolve(WASM), path.join(dir, 'c2pa.wasm'));
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
