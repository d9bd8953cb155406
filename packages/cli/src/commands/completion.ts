import { Argument, type Command } from 'commander';
import { engineWords } from '../choices';
import { candidates, COMPLETION_SCRIPTS, SHELLS } from '../completion';
import { readProfiles } from '../profiles';
import type { Session } from '../session';

export function addCompletionCommands(program: Command, session: Session): void {
  program
    .command('completion')
    .description('print what makes Tab complete this command; for example: source <(lipsync completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: (typeof SHELLS)[number]) => {
      session.stdout.write(COMPLETION_SCRIPTS[shell]);
    });

  program
    .command('complete [words...]', { hidden: true })
    .description('what the scripts of completion ask')
    .action(async (words: string[]) => {
      const { byName } = await readProfiles(session.profilesFile);
      const found = candidates(program, words, { engines: engineWords, profile: () => [...byName.keys()] });
      session.stdout.write(found.map(({ word, description }) => `${word}\t${description}\n`).join(''));
    });
}
