import { printableText } from '@lipsync/admin';
import { type Engine, ENGINES } from '@lipsync/contract';
import { type Command, InvalidArgumentError } from 'commander';

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a positive whole number');
  return Number(text);
}

export function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
}

/** The engines in a list of names, separated by commas. */
export function parseEngines(text: string): Engine[] {
  return text.split(',').map((name) => parseEngine(name.trim()));
}

function parseEngine(name: string): Engine {
  const engine = ENGINES.find((known) => known === name);
  if (engine === undefined) throw new InvalidArgumentError(`engines are ${ENGINES.join(', ')}`);
  return engine;
}

/** What the command throws becomes a message on the error output, and the exit code 1. */
export function runProgram(program: Command): void {
  program.parseAsync().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    // It may quote a service or a hub.
    process.stderr.write(printableText(`${program.name()}: ${message}\n`));
    process.exitCode = 1;
  });
}
