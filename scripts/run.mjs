// `npm run COMMAND -- ARGUMENTS`: brings the clone up to date, then runs the compiled command.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bootstrap } from './bootstrap.mjs';

/** The workspace that each command lies in. */
const WORKSPACES = {
  demo: 'local-stack',
  stack: 'local-stack',
  admin: 'local-stack',
  models: 'models',
  'measure-sync': 'models',
  'bench-pipeline': 'bench',
  'bench-control-plane': 'bench',
  'bench-engines': 'bench',
  'bench-preparation': 'bench',
  corpora: 'corpora',
  chaos: 'chaos',
  'load-test': '.',
  'bench-scale-out': '.',
  capacity: '.',
};

const [command, ...args] = process.argv.slice(2);
const program = new URL(`./${WORKSPACES[command]}/dist/${command}.js`, import.meta.url);
const isClient =
  command === 'admin' || (command === 'demo' && args.some((arg) => /^--target(=|$)/.test(arg)));
// Help can wait for no build. It may be that of the last one.
const isHelp = args.some((arg) => arg === '--help' || arg === '-h');

if (isHelp && command === 'bench-scale-out') {
  console.log('bench:scale-out is described in README.md under "Measuring".');
  process.exit();
}
if (!isHelp || !existsSync(program)) await bootstrap({ programs: !isClient && !isHelp });
// Makes argv look as if the program had been started directly.
process.argv.splice(1, 2, fileURLToPath(program));
await import(program.href);
