import { Argument, type Command } from 'commander';
import { engineWords } from '../choices';
import { type Kind, kindOf } from '../ids';
import { readProfiles } from '../session/profiles';
import type { Session } from '../session/session';
import { candidates, COMPLETION_SCRIPTS, SHELLS } from './candidates';

export function addCompletionCommands(program: Command, session: Session): void {
  program
    .command('completion')
    .description('print the script for shell completion; for example: source <(lipsync completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: (typeof SHELLS)[number]) => {
      session.stdout.write(COMPLETION_SCRIPTS[shell]);
    });

  program
    .command('complete [words...]', { hidden: true })
    .description('called by the completion scripts')
    .action(async (words: string[]) => {
      const { byName } = await readProfiles(session.profilesFile);
      // Nothing was made without a login.
      const made = await session.history().then(
        (history) => history.ids(),
        () => [],
      );
      const ids = (...kinds: Kind[]) => made.filter((id) => kinds.includes(kindOf(id)));
      const found = candidates(program, words, {
        engines: engineWords,
        profile: () => [...byName.keys()],
        id: () => made,
        'render-id': () => ids('render'),
        render: () => ids('render', 'preparation'),
        preparation: () => ids('preparation'),
      });
      session.stdout.write(found.map(({ word, description }) => `${word}\t${description}\n`).join(''));
    });
}
