/** One `FROM … AS …` of a Dockerfile. */
export interface Stage {
  readonly name: string;
  readonly from: string;
  /** Instructions in order, continued lines joined. */
  readonly instructions: readonly { readonly name: string; readonly value: string }[];
}

/** The stages of a Dockerfile and its ARGs before the first of them. Enough of the format for our own file. */
export function parseDockerfile(text: string): { stages: Stage[]; args: Map<string, string> } {
  const stages: { name: string; from: string; instructions: { name: string; value: string }[] }[] = [];
  const args = new Map<string, string>();
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
  for (const line of lines
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n')) {
    const [, name = '', value = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    const current = stages.at(-1);
    if (name === 'FROM') {
      const [, from = '', as = ''] = /^(\S+) AS (\S+)$/.exec(value) ?? [];
      stages.push({ name: as, from, instructions: [] });
    } else if (current !== undefined && name !== '') {
      current.instructions.push({ name, value });
    } else if (name === 'ARG') {
      const [argument = '', fallback = ''] = value.split('=');
      args.set(argument, fallback);
    }
  }
  return { stages, args };
}

/** A stage and what it is built on, itself last. */
export function lineage(stages: readonly Stage[], name: string): Stage[] {
  const stage = stages.find((each) => each.name === name);
  return stage === undefined ? [] : [...lineage(stages, stage.from), stage];
}

/** What an image of this stage sets in the environment. */
export function environmentOf(stages: readonly Stage[], name: string): Record<string, string> {
  const settings = lineage(stages, name).flatMap(({ instructions }) =>
    instructions
      .filter((instruction) => instruction.name === 'ENV')
      .flatMap(({ value }) => value.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
  );
  return Object.fromEntries(settings);
}

/** The value of the last such instruction on the way to a stage. */
export function lastInstruction(stages: readonly Stage[], name: string, instruction: string): string {
  const all = lineage(stages, name).flatMap(({ instructions }) => instructions);
  return all.filter((each) => each.name === instruction).at(-1)?.value ?? '';
}
