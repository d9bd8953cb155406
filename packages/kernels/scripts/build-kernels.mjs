// Compiles assembly/ to WebAssembly and embeds it in src/generated/kernels.ts. With --check it writes nothing and fails
// if that file is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const target = path.join(root, 'src/generated/kernels.ts');

let binary;
const { error, stderr } = await asc.main(
  [
    ...['assembly/index.ts', '--outFile', 'kernels.wasm', '--baseDir', root],
    ...['--optimizeLevel', '3', '--shrinkLevel', '0', '--noAssert'],
    // The kernels allocate nothing: the host lays out the memory and passes addresses.
    ...['--runtime', 'stub', '--importMemory', '--noExportMemory', '--enable', 'simd'],
    // Vectors are only passed between the files of this folder, never to the host.
    ...['--disableWarning', '112'],
  ],
  { writeFile: (_name, contents) => void (binary = contents) },
);
if (error || binary === undefined) {
  console.error(stderr.toString(), error?.message ?? '');
  process.exit(1);
}

const lines = Buffer.from(binary)
  .toString('base64')
  .match(/.{1,110}/g);
const content = `// Generated from assembly/ by scripts/build-kernels.mjs. Do not edit.
/** The pixel kernels, a WebAssembly module of ${binary.length} bytes. */
export const KERNELS = Buffer.from(
  \`
${lines.join('\n')}
\`,
  'base64',
);
`;

if ((await readFile(target, 'utf8').catch(() => null)) !== content) {
  if (process.argv.includes('--check')) {
    console.error(
      'Out of date: src/generated/kernels.ts. Run: node packages/kernels/scripts/build-kernels.mjs',
    );
    process.exit(1);
  }
  await writeFile(target, content);
}
