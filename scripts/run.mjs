// `npm run COMMAND -- ARGUMENTS`: brings the clone up to date, then runs the compiled command.
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bootstrap } from './bootstrap.mjs';
import { useSupportedNode } from './supported-node.cjs';

await useSupportedNode();

const [command, ...args] = process.argv.slice(2);
const here = new URL('.', import.meta.url);
const workspace = readdirSync(here).find((name) => existsSync(new URL(`${name}/src/${command}.ts`, here)));
const program =
  command === 'lipsync'
    ? new URL('../packages/cli/dist/main.js', here)
    : new URL(`${workspace}/dist/${command}.js`, here);
const isClient =
  ['admin', 'lipsync'].includes(command) ||
  (command === 'demo' && args.some((arg) => /^--target(=|$)/.test(arg)));
// Help does not wait for a build; it may be that of the last one.
const isHelp = args.some((arg) => arg === '--help' || arg === '-h');

if (isHelp && command === 'bench-scale-out') {
  console.log('bench:scale-out is described in docs/measuring.md.');
  process.exit();
}
if (!isHelp || !existsSync(program)) await bootstrap({ programs: !isClient && !isHelp });
// Makes argv look as if the program had been started directly.
process.argv.splice(1, 2, fileURLToPath(program));
await import(program.href);
