import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The TypeScript samples of the README by what follows `ts` in their first line; those without are one program. */
export async function readmeSamples(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(path.join(__dirname, '..', '..', 'README.md'), 'utf8');
  const samples = new Map<string, string>();
  for (const [, name = '', code = ''] of text.matchAll(/^```ts ?(\w*)\n([^]*?)^```$/gm))
    samples.set(name, `${samples.get(name) ?? ''}${code}`);
  return samples;
}
