import { type Engine, ENGINES } from '@lipsync/contract';

/** The engines in a list of names, separated by commas. Throws for an unknown one. */
export function enginesOf(list: string): Engine[] {
  return list.split(',').map((name) => {
    const engine = ENGINES.find((known) => known === name);
    if (engine === undefined) throw new Error(`there is no engine ${name}, but ${ENGINES.join(', ')}`);
    return engine;
  });
}
