import { createInterface } from 'node:readline/promises';
import { type Release } from './published';

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/** Shows the licences of a release, and rejects unless they are accepted, by the option or by the word `yes`. */
export async function acceptLicences(
  { engine, model, licences }: Release,
  { accepted, terminal }: { accepted: boolean; terminal: Terminal },
): Promise<void> {
  const { input, output } = terminal;
  const lines = licences.map(({ of, terms, text }) => `  ${of}: ${terms}\n    ${text}`);
  output.write(`${engine} ${model} is made of weights under these licences:\n${lines.join('\n')}\n`);
  if (accepted) return;
  const refused = 'the licences were not accepted. Nothing was downloaded';
  if (input.isTTY !== true)
    throw new Error(`${refused}: there is no terminal to ask on; read them and use --licence-accepted`);
  const question = createInterface({ input, output });
  try {
    const answer = await question.question('Do you accept them? (yes/no) ');
    if (answer.trim().toLowerCase() !== 'yes') throw new Error(refused);
  } finally {
    question.close();
  }
}
