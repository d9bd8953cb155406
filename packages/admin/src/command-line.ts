import { InvalidArgumentError } from 'commander';

/** A row of a command's output. Dates are printed as ISO 8601. */
export type Row = Readonly<Record<string, string | number | boolean | null | Date | undefined>>;

/** Rows that a list prints: more than anybody reads. The rest is only counted. */
export const LIST_MAX = 100;

/** Prints one row or a table, or with `json` exactly one JSON value. */
export function print(rows: Row | readonly Row[], { json = false }: { json?: boolean | undefined }): void {
  if (json) sayJson(rows);
  else if (isTable(rows)) printTable(rows);
  else for (const [name, value] of Object.entries(rows)) say(`${name.padEnd(20)} ${text(value)}`);
}

/** Prints one row and, below it, named tables; with `json` exactly one JSON value with all of it. */
export function printWithTables(
  row: Row,
  tables: Readonly<Record<string, readonly Row[]>>,
  { json = false }: { json?: boolean | undefined },
): void {
  if (json) return sayJson({ ...row, ...tables });
  print(row, {});
  for (const [name, rows] of Object.entries(tables)) {
    say('');
    say(name);
    printTable(rows);
  }
}

function isTable(rows: Row | readonly Row[]): rows is readonly Row[] {
  return Array.isArray(rows);
}

function printTable(rows: readonly Row[]): void {
  const names = Object.keys(rows[0] ?? {});
  if (names.length === 0) return say('(none)');
  const cells = [names, ...rows.map((row) => names.map((name) => text(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  for (const line of cells)
    say(
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function text(value: Row[string]): string {
  if (value === null || value === undefined) return '-';
  return value instanceof Date ? value.toISOString() : String(value);
}

/**
 * What a terminal obeys instead of showing it: control characters (C0, DEL, C1), line separators, and characters that
 * reverse the direction of text. Names of customers and messages about their media may contain them.
 */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/** Text that is safe in one line on a terminal. Its length stays the same, so that columns stay straight. */
function printable(line: string): string {
  return line.replace(OBEYED, (character) => (/\s/.test(character) ? ' ' : '\ufffd'));
}

/** Text of several lines, such as a help text, that is safe to print. */
export function printableText(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function say(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** JSON of the same value, with escapes for what a terminal obeys. */
export function sayJson(value: unknown): void {
  const json = JSON.stringify(value, null, 2).replace(OBEYED, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  process.stdout.write(`${json}\n`);
}

/**
 * Prints rows as RFC 4180 says, under the names of their columns; without rows, nothing. A text that a spreadsheet would
 * take for a formula is marked as text.
 */
export function printCsv(rows: readonly Row[]): void {
  const cell = (value: Row[string]): string => {
    if (value === null || value === undefined) return '';
    const plain = typeof value === 'string' ? printable(value).replace(/^[=+@-]/, "'$&") : text(value);
    return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
  if (rows.length > 0) process.stdout.write(lines.map((line) => `${line.map(cell).join(',')}\r\n`).join(''));
}

/** Prints on standard error. Further lines, such as each wrong setting, are indented: none can pose as another message. */
export function complain(message: string): void {
  process.stderr.write(`admin: ${message.split('\n').map(printable).join('\n  ')}\n`);
}

const SECONDS: ReadonlyMap<string, number> = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
]);
const MAX_DAYS = 3_650;

/** Parses `90s`, `30m`, `24h` or `7d` to seconds, at most ten years. Throws commander's InvalidArgumentError. */
export function duration(value: string): number {
  const [, count = '', unit = ''] = /^(\d{1,7})([smhd])$/.exec(value) ?? [];
  const seconds = Number(count) * (SECONDS.get(unit) ?? NaN);
  if (!(seconds <= MAX_DAYS * 86_400))
    throw new InvalidArgumentError(`Expected a duration such as 30m, 24h or 7d, at most ${MAX_DAYS}d.`);
  return seconds;
}

/** Parses `2026-10` to the first moment of that month in UTC. Throws commander's InvalidArgumentError. */
export function parseMonth(value: string): Date {
  const first = new Date(/^\d{4}-\d{2}$/.test(value) ? `${value}-01T00:00:00Z` : NaN);
  if (Number.isNaN(first.getTime())) throw new InvalidArgumentError('Expected a month such as 2026-10.');
  return first;
}
