/** Counts the lines that contain `word` in a text that arrives in pieces. */
export function countLines(word: string): { see: (text: string) => void; count: () => number } {
  let rest = '';
  let count = 0;
  return {
    see: (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      count += lines.filter((line) => line.includes(word)).length;
    },
    count: () => count,
  };
}
