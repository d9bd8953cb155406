import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { z } from '@lipsync/runtime';
import { type PublishedFile, type Release, SHA256 } from './published';

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/** What an operator agrees to: by options, or where those are missing by the word `yes`. */
export interface Consent {
  readonly terminal: Terminal;
  readonly licensesAccepted: boolean;
  /** SHA-256 of files whose digest nobody here knows. */
  readonly trusted: readonly string[];
}

/** Shows the licenses of a release, and rejects unless they are accepted. */
export async function acceptLicenses(
  { engine, model, licenses }: Release,
  { licensesAccepted, terminal }: Consent,
): Promise<void> {
  const lines = licenses.map(({ of, terms, text }) => `  ${of}: ${terms}\n    ${text}`);
  terminal.output.write(`${engine} ${model} is made of weights under these licenses:\n${lines.join('\n')}\n`);
  if (licensesAccepted) return;
  await agreed(terminal, {
    question: 'Do you accept them?',
    refusal: 'the licenses were not accepted. Nothing was downloaded',
    instead: 'read them and use --license-accepted',
  });
}

/** A file whose bytes can be verified. */
export type VerifiableFile = PublishedFile & { readonly sha256: string };

/** A digest that nobody here knows, and where it comes from. */
export interface Claim {
  readonly file: VerifiableFile;
  readonly source: string;
}

/**
 * Has an operator confirm the digests of files that nobody here knows, and writes them to `record`, so that later calls
 * neither ask again nor take other files. Rejects unless all are confirmed.
 */
export async function confirmDigests(
  claims: readonly Claim[],
  { terminal, trusted }: Consent,
  record: string,
): Promise<void> {
  const doubtful = claims.filter(({ file }) => !trusted.includes(file.sha256));
  if (doubtful.length > 0) {
    const lines = doubtful.map(
      ({ file, source }) => `  ${file.repo}/${file.path}\n    SHA-256 ${file.sha256}, ${source}`,
    );
    terminal.output.write(
      `The digests of these files are not known here. Compare them with a source of your own:\n${lines.join('\n')}\n`,
    );
    await agreed(terminal, {
      question: 'Are they the published ones?',
      refusal: 'the digests were not confirmed, and nothing was made of the files',
      instead: `compare them and use ${doubtful.map(({ file }) => `--trust ${file.sha256}`).join(' ')}`,
    });
  }
  if (claims.length === 0) return;
  const confirmed = Object.fromEntries(
    claims.map(({ file: { to, sha256, revision } }) => [to, { sha256, revision }]),
  );
  const all = { ...(await readConfirmed(record)), ...confirmed };
  await writeFile(record, `${JSON.stringify(all, null, 2)}\n`);
}

const confirmedSchema = z.record(z.string(), z.strictObject({ sha256: SHA256, revision: z.string() }));

/** Files with the digests, and from the commits, that were confirmed before. */
export async function withConfirmed(
  files: readonly PublishedFile[],
  record: string,
): Promise<PublishedFile[]> {
  const confirmed = await readConfirmed(record);
  return files.map((file) => (file.sha256 === null ? { ...file, ...confirmed[file.to] } : file));
}

async function readConfirmed(record: string): Promise<z.output<typeof confirmedSchema>> {
  try {
    return confirmedSchema.parse(JSON.parse(await readFile(record, 'utf8')));
  } catch {
    // None yet, or damaged: then they are asked about again.
    return {};
  }
}

async function agreed(
  { input, output }: Terminal,
  { question, refusal, instead }: Record<'question' | 'refusal' | 'instead', string>,
): Promise<void> {
  if (input.isTTY !== true) throw new Error(`${refusal}: there is no terminal to ask on; ${instead}`);
  const dialog = createInterface({ input, output });
  try {
    const answer = await dialog.question(`${question} (yes/no) `);
    if (answer.trim().toLowerCase() !== 'yes') throw new Error(refusal);
  } finally {
    dialog.close();
  }
}
