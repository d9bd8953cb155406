import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEgressRoutes } from '@lipsync/runtime';
import { Command, InvalidArgumentError } from 'commander';
import { runProgram } from './command-line';
import { DEFAULT_STACK_ROOT, descriptionFile } from './layout';
import { createStack } from './local-stack';

/** `npm run stack -- up|down|status`: the whole system on loopback, data under .local/. */
const program = new Command('stack')
  .description('The whole system on this machine: three servers, four services.')
  .option('--root <dir>', 'where its data lies; several stacks may run side by side', DEFAULT_STACK_ROOT);

const root = (): string => path.resolve(program.opts<{ root: string }>().root);

program
  .command('up')
  .description('start what does not run; safe to repeat')
  .option(
    '--egress-route <host:port=ip:port>',
    'reach this HTTPS destination on loopback (repeatable)',
    egressRoute,
    [],
  )
  .option('--egress-ca <file>', 'trust this PEM authority on those destinations')
  .action(async ({ egressRoute, egressCa }: { egressRoute: string[]; egressCa?: string }) => {
    if (process.env['NODE_ENV'] === 'production')
      throw new Error('the local stack is for development: NODE_ENV is production');
    const stack = createStack({
      root: root(),
      egressRoutes: egressRoute,
      ...(egressCa === undefined ? {} : { egressCa: readFileSync(egressCa, 'utf8') }),
      onProgress: (name, outcome) => console.log(`${name.padEnd(20)} ${outcome}`),
    });
    const description = await stack.up();
    console.log(`\nAPI        ${description.base_url}   (docs: ${description.base_url}/docs)`);
    console.log(`Studio     ${description.base_url}/studio`);
    console.log(`Logs       ${description.logs_dir}`);
    console.log(`Addresses, keys and secrets: ${descriptionFile(root())}`);
  });

program
  .command('down')
  .description('stop everything cleanly; data stays')
  .option('--erase', 'forget all data as well')
  .action(async ({ erase }: { erase?: boolean }) => {
    const stack = createStack({
      root: root(),
      onProgress: (name, outcome) => console.log(`${name.padEnd(20)} ${outcome}`),
    });
    await stack.down();
    if (erase === true) stack.erase();
  });

program
  .command('status')
  .description('which parts run; exit code 1 when one does not')
  .option('--json', 'as JSON')
  .action(async ({ json }: { json?: boolean }) => {
    const stack = createStack({ root: root() });
    const description = stack.describe();
    const servers = await stack.servers();
    if (json === true) console.log(JSON.stringify(description && { ...description, servers }, null, 2));
    else if (description === null) console.log('the stack was never up');
    else for (const part of [...servers, ...description.services]) printStatus(part);
    const runs =
      description !== null && [...servers, ...description.services].every(({ pid }) => pid !== null);
    process.exitCode = runs ? 0 : 1;
  });

function printStatus(part: { name: string; pid: number | null; health_url?: string }): void {
  const { name, pid, health_url = '' } = part;
  const state = pid === null ? 'down' : `pid ${pid}`;
  console.log(`${name.padEnd(20)} ${state.padEnd(12)} ${health_url}`.trimEnd());
}

function egressRoute(value: string, previous: string[]): string[] {
  try {
    parseEgressRoutes(value);
  } catch {
    throw new InvalidArgumentError(
      'The form is host:port=ip:port, with an address on loopback, such as media.example.com:443=127.0.0.1:9443.',
    );
  }
  return [...previous, value];
}

runProgram(program);
