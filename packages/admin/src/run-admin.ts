import { isDatabaseUnavailable } from '@lipsync/db';
import { Command } from 'commander';
import { addActor } from './actor';
import { addAuditCommand } from './audit';
import { addBackupCommands } from './backups';
import { addBucketCommands } from './bucket';
import { complain, printableText } from './command-line';
import { connectedBy, type Environment } from './connect';
import { addCustomerCommands } from './customers';
import { addEraseCommands } from './erase/erase-commands';
import { addKeyCommands, addSecretCommands } from './keys';
import { addMasterKeyCommands } from './master-key';
import { addPurgeCommand } from './purge';
import { addRenderCommands } from './renders';
import { addUsageCommand } from './usage';
import { addWebhookCommands } from './webhooks';

/**
 * Runs the operator's command line. Every command supports --json. `environment` is read only when a command runs, so
 * that help works without it. A failure gives one sentence on standard error and exit code 1.
 */
export async function runAdmin(environment: () => Environment, description: string): Promise<void> {
  try {
    await adminProgram(environment).description(description).parseAsync();
  } catch (error) {
    complain(sentenceOf(error));
    process.exitCode = 1;
  }
}

/** All commands, ready to be run once. */
export function adminProgram(environment: () => Environment): Command {
  const program = new Command('admin').configureOutput({
    writeOut: (text) => process.stdout.write(printableText(text)),
    writeErr: (text) => process.stderr.write(printableText(text)),
  });
  const connection = connectedBy(environment, addActor(program));
  for (const add of [
    addCustomerCommands,
    addKeyCommands,
    addSecretCommands,
    addMasterKeyCommands,
    addRenderCommands,
    addWebhookCommands,
    addUsageCommand,
    addPurgeCommand,
    addAuditCommand,
    addBucketCommands,
    addBackupCommands,
    addEraseCommands,
  ])
    add(program, connection);
  return program;
}

/** Prisma's messages begin with the place in the code, and end with what happened. */
function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!isDatabaseUnavailable(error)) return message;
  return `the database is unavailable: ${message.trim().split('\n').at(-1)}`;
}
