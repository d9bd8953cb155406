/**
 * Reads a word of a closed list from a row, which holds plain text: the table's constraints, or the contract before them,
 * let no other in. @throws Error when it is none of them
 */
export function storedWord<Word extends string>(words: readonly Word[], text: string, what: string): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw new Error(`${text} is not ${what}`);
  return word;
}
