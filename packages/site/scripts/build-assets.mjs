// Writes what the pages load to dist/assets: the studio's styles and those of the documentation in one file, and two
// scripts, of which theme.js runs before the page is drawn.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const at = (...names) => path.join(root, ...names);
const { resolve } = createRequire(import.meta.url);
const out = at('dist/assets');

await mkdir(out, { recursive: true });
for (const name of ['theme', 'docs']) {
  const bundle = await rolldown({
    input: at('browser', `${name}.ts`),
    platform: 'browser',
    tsconfig: false,
  });
  await bundle.write({ format: 'iife', file: path.join(out, `${name}.js`), minify: true });
  await bundle.close();
}
const styles = [
  resolve('@lipsync/studio/styles/tokens.css'),
  resolve('@lipsync/studio/styles/base.css'),
  resolve('@lipsync/studio/styles/controls.css'),
  resolve('@lipsync/studio/header.css'),
  ...['frame', 'prose', 'code', 'reference', 'search'].map((name) => at('styles', `${name}.css`)),
];
const texts = await Promise.all(styles.map((file) => readFile(file, 'utf8')));
await writeFile(path.join(out, 'docs.css'), texts.join('\n'));
