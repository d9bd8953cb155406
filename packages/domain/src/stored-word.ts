/**
 * Reads a word of a closed list from a row, which holds plain text. The table's constraints, or the contract before
 * them, let no other word in.
 * @throws Error if the text is not in the list
 */
export function storedWord<Word extends string>(words: readonly Word[], text: string, what: string): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw new Error(`${text} is not ${what}`);
  return word;
}
