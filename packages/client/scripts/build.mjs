// Bundles src/ into dist/: for Node, Bun and Deno as an ES module and as CommonJS, for browsers as an ES module, and the
// declarations of both module systems, which need no other package. `node scripts/build.mjs DIR` writes to DIR instead.
import { copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const at = (...names) => path.join(root, ...names);
const out = path.resolve(process.argv[2] ?? at('dist'));

await rm(out, { recursive: true, force: true });
for (const [entry, format, file, platform] of [
  ['index', 'esm', 'index.mjs', 'node'],
  ['index', 'cjs', 'index.js', 'node'],
  ['browser', 'esm', 'browser.mjs', 'browser'],
]) {
  const bundle = await rolldown({ input: at('src', `${entry}.ts`), platform, tsconfig: false });
  await bundle.write({ format, file: path.join(out, file) });
  await bundle.close();
}
const declarations = await rollup({
  input: at('src/index.ts'),
  external: /^node:/,
  plugins: [dts({ tsconfig: at('tsconfig.json') })],
});
await declarations.write({ format: 'esm', file: path.join(out, 'index.d.ts') });
await declarations.close();
await copyFile(path.join(out, 'index.d.ts'), path.join(out, 'index.d.mts'));
