// `npm run COMMAND -- ARGUMENTS`: brings the clone up to date, then runs the compiled command.
import { fileURLToPath } from 'node:url';
import { bootstrap } from './bootstrap.mjs';

const [command, ...args] = process.argv.slice(2);
const isClient =
  command === 'admin' || (command === 'demo' && args.some((arg) => /^--target(=|$)/.test(arg)));

await bootstrap({ programs: !isClient });
const program = new URL(`./dist/${command}.js`, import.meta.url);
// Makes argv look as if the program had been started directly.
process.argv.splice(1, 2, fileURLToPath(program));
await import(program.href);
