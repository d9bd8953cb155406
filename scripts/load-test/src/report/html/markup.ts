/** Text that is already markup and is inserted into a page unescaped. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | null | readonly (Markup | string)[];

/** Inserts values into markup: strings and numbers escaped, markup as is, arrays concatenated, null as nothing. */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(texts.reduce((all, text, i) => all + rendered(parts[i - 1] ?? null) + text));
}

function rendered(part: Part): string {
  if (part === null) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return escaped(part);
  return part.map(rendered).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
