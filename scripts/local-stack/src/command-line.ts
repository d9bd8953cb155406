import { type Command, InvalidArgumentError } from 'commander';

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a positive whole number');
  return Number(text);
}

export function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
}

/** What the command throws becomes one line, and the exit code 1. */
export function runProgram(program: Command): void {
  program.parseAsync().catch((error: unknown) => {
    console.error(`${program.name()}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  });
}
