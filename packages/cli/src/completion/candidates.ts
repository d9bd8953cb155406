import type { Argument, Command, Option } from 'commander';

/** A word that may stand where the user is typing. */
export interface Candidate {
  word: string;
  description: string;
}

/** The values of options and arguments that commander knows no choices of, by their names. */
export type Values = Readonly<Record<string, (current: string) => readonly string[]>>;

/**
 * What may replace the last of `words`, the words after the name of the program. Empty where a file name or free text
 * belongs: the shell then completes file names.
 */
export function candidates(program: Command, words: readonly string[], values: Values): Candidate[] {
  const current = words.at(-1) ?? '';
  let command = program;
  let awaiting: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (awaiting !== undefined) awaiting = undefined;
    else if (word.startsWith('-')) awaiting = optionNamed(word, command, program);
    else command = command.commands.find((child) => child.name() === word) ?? command;
  }

  const valuesOf = (argument: Argument) => values[argument.name()]?.(current) ?? argument.argChoices ?? [];
  const plain = (words: readonly string[]) => words.map((word) => ({ word, description: '' }));
  const found =
    awaiting !== undefined
      ? plain(values[awaiting.attributeName()]?.(current) ?? awaiting.argChoices ?? [])
      : current.startsWith('-')
        ? optionsOf(command, program).map(({ long, description }) => ({ word: long ?? '', description }))
        : [...subcommandsOf(command), ...plain(command.registeredArguments.flatMap(valuesOf))];
  return found.filter(({ word }) => word !== '' && word.startsWith(current));
}

/** The option that takes the next word as its value, if this word does so. */
function optionNamed(word: string, command: Command, program: Command): Option | undefined {
  return [...command.options, ...program.options].find(
    ({ short, long, required }) => required && (word === short || word === long),
  );
}

function optionsOf(command: Command, program: Command): Option[] {
  const help = command.createHelp();
  return [...new Set([...help.visibleOptions(command), ...help.visibleOptions(program)])];
}

function subcommandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ word: child.name(), description: child.summary() || child.description() }));
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** What a shell evaluates at its start. It asks `lipsync complete` at every Tab, so it is never out of date. */
export const COMPLETION_SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_lipsync() {
  local IFS=$'\\n'
  COMPREPLY=($(lipsync complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _lipsync lipsync
`,
  zsh: `_lipsync() {
  local -a found
  found=("\${(@f)$(lipsync complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "$found" ]]; then
    _files
  else
    found=("\${(@)found//:/\\\\:}")
    found=("\${(@)found//$'\\t'/:}")
    _describe lipsync found
  fi
}
compdef _lipsync lipsync
`,
  fish: `function __lipsync_complete
  set -l found (lipsync complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if test -n "$found"
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c lipsync -f -a '(__lipsync_complete)'
`,
};
