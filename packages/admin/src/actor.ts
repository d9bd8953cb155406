import { userInfo } from 'node:os';
import { type Act } from '@lipsync/db';
import { type Command, InvalidArgumentError, Option } from 'commander';

const NAME_MAX = 200;

/**
 * Lets the operator say who runs a command, and returns what the audit log is to say of the command that runs. In a
 * container the operating system knows no person, so the caller passes the name on.
 */
export function addActor(program: Command): () => Act {
  program.addOption(
    new Option('--as <name>', 'who runs this, for the audit log (default: the user of the operating system)')
      .env('ADMIN_AS')
      .argParser(name),
  );
  let running: Command | undefined;
  program.hook('preAction', (_, command) => void (running = command));
  return () => ({
    // Deployment tools write a variable that is absent as an empty one.
    actor: program.opts<{ as?: string }>().as || systemUser(),
    command: running === undefined ? program.name() : pathOf(running, program).join(' '),
  });
}

function name(value: string): string {
  if (value.length > NAME_MAX || (value !== '' && value.trim() === ''))
    throw new InvalidArgumentError(`Expected a name of at most ${NAME_MAX} characters.`);
  return value.trim();
}

/** As it is typed: `keys issue`. */
function pathOf(command: Command, program: Command): string[] {
  if (command === program || command.parent === null) return [];
  return [...pathOf(command.parent, program), command.name()];
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // Images have no entry for the id that the cluster runs them under.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
