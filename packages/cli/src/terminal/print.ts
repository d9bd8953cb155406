/**
 * What a terminal obeys instead of showing it: control characters (C0, DEL, C1), line separators, and characters that
 * reverse the direction of text. Messages of the service and names of files may contain them.
 */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/** Text that is safe in one line on a terminal. Its length stays the same. */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => (/\s/.test(character) ? ' ' : '\ufffd'));
}

/** Everything that people read goes through here, or is drawn by progress.ts. */
export function printLine(stream: NodeJS.WritableStream, text: string, prefix = ''): void {
  stream.write(`${prefix}${printable(text)}\n`);
}

/** Prints text of several lines, such as a help text. */
export function printText(stream: NodeJS.WritableStream, text: string): void {
  stream.write(text.split('\n').map(printable).join('\n'));
}

/**
 * Prints one JSON document. Programs read every character of its strings, and terminals none that they obey.
 * @param indent 0 for a line
 */
export function printDocument(stream: NodeJS.WritableStream, document: unknown, indent = 2): void {
  const json = JSON.stringify(document, null, indent).replace(OBEYED, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  stream.write(`${json}\n`);
}
