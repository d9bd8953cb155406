import { CommandError, type Outcome } from './failures/exit-codes';

/** What an id can name; its first letters say which. */
export type Kind = 'render' | 'preparation' | 'asset' | 'event';
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['ren', 'render'],
  ['prp', 'preparation'],
  ['ast', 'asset'],
  ['evt', 'event'],
]);

/**
 * Ids become part of file names and of commands that users copy, so letters and digits are all that they may contain.
 * @param outcome of the command if it is not an id: `usage` for what the user typed, `failed` for what the service said
 * @throws CommandError
 */
export function kindOf(id: string, outcome: Outcome = 'usage'): Kind {
  const kind = KINDS.get(/^([a-z]+)_[0-9a-z]+$/.exec(id)?.[1] ?? '');
  if (kind !== undefined) return kind;
  throw new CommandError(`"${id}" is not an id.`, outcome, 'Ids begin with ren_, prp_, ast_ or evt_.');
}

export function checkRenderId(id: string, outcome: Outcome = 'usage'): string {
  if (kindOf(id, outcome) === 'render') return id;
  throw new CommandError(`"${id}" is not the id of a render.`, outcome, 'Those begin with ren_.');
}
