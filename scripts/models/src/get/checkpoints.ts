import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { confirmDigests, type Consent, type VerifiableFile, withConfirmed } from './consent';
import { discard, downloadPart, finish, sizeOf } from './download';
import { addressOf, askHub, type Hub, type HubFile, HubRefusal } from './hub';
import { type PublishedFile, type Release } from './published';

/** A file that is not the published one. */
class WrongFile extends Error {
  override readonly name = 'WrongFile';
}

interface Place {
  readonly hub: Hub;
  /** Folder of the files, laid out as the exporter wants them. */
  readonly weights: string;
  readonly consent: Consent;
  /** File of the digests that were confirmed. */
  readonly record: string;
}

interface Source extends Place {
  readonly tell: (line: string) => void;
  readonly pauseMs: number;
  /** Called before anything is downloaded, with the bytes that are missing. Rejects if there is no room for them. */
  readonly makeSure: (missingBytes: number) => Promise<void>;
}

/**
 * Brings all files of a release to `weights` and verifies them. Files that are there and right are not asked for again;
 * interrupted ones are continued. Rejects with HubRefusal, which then also says which file to put where, with WrongFile,
 * or as `confirmDigests` and `makeSure` do. What was verified stays, and so do parts.
 */
export async function collectCheckpoints(release: Release, source: Source): Promise<void> {
  const { hub, weights, consent, record, tell, makeSure } = source;
  const missing: PublishedFile[] = [];
  for (const file of await withConfirmed(release.files, record))
    if (!isVerifiable(file) || (await problemOf(path.join(weights, file.to), file)) !== null)
      missing.push(file);
  try {
    const wanted: Wanted[] = [];
    for (const file of missing) wanted.push(wantedFile(file, await askHub(hub, file), hub));
    const claims = wanted.filter(({ isKnown }) => !isKnown);
    await confirmDigests(
      claims.map(({ file }) => ({ file, source: `stated by ${hub.address} at ${file.revision}` })),
      consent,
      record,
    );
    let bytes = 0;
    for (const { file, stated } of wanted)
      bytes += Math.max(
        0,
        (file.bytes ?? stated.bytes ?? 0) - (await sizeOf(`${path.join(weights, file.to)}.part`)),
      );
    await makeSure(bytes);
    for (const each of wanted) await bring(each, source);
  } catch (error) {
    if (!(error instanceof HubRefusal)) throw error;
    const advice = `\n${placement(hub, weights, missing)}`;
    throw new HubRefusal(`${error.message}${advice}`, error.passing, { cause: error });
  }
  tell(`${release.files.length} files verified in ${weights}`);
}

/**
 * Verifies a folder that somebody else filled. Rejects with WrongFile, naming every file that is missing or not the
 * published one, or as `confirmDigests` does.
 */
export async function checkCheckpoints(release: Release, place: Place): Promise<void> {
  const { hub, weights, consent, record } = place;
  const problems: string[] = [];
  const claims: VerifiableFile[] = [];
  for (const file of await withConfirmed(release.files, record)) {
    const target = path.join(weights, file.to);
    const problem = await problemOf(target, file);
    if (problem !== null) problems.push(`  ${file.to} ${problem}`);
    else if (!isVerifiable(file)) claims.push({ ...file, sha256: await sha256Of(target) });
  }
  if (problems.length > 0) {
    const lines = [`${weights} does not hold what was published:`, ...problems];
    throw new WrongFile([...lines, placement(hub, weights, release.files)].join('\n'));
  }
  await confirmDigests(
    claims.map((file) => ({ file, source: `found in ${path.join(weights, file.to)}` })),
    consent,
    record,
  );
}

/** What to do by hand where the hub cannot be used. */
function placement(hub: Hub, weights: string, files: readonly PublishedFile[]): string {
  const lines = files.map((file) => {
    const size = file.bytes === null ? '' : ` (${file.bytes} bytes)`;
    return `  ${addressOf(hub, file, file.revision)}\n    → ${path.join(weights, file.to)}${size}`;
  });
  return [
    'To go on without the hub, put these files there:',
    ...lines,
    `and run the same again with --files ${weights}`,
  ].join('\n');
}

interface Wanted {
  readonly file: VerifiableFile;
  readonly stated: HubFile;
  /** Whether the digest is known without the hub. */
  readonly isKnown: boolean;
}

/** Rejects another version before gigabytes of it are downloaded. Where no digest is known, takes the hub's. */
function wantedFile(file: PublishedFile, stated: HubFile, hub: Hub): Wanted {
  const { bytes, sha256, url } = stated;
  const otherSize = file.bytes !== null && bytes !== null && bytes !== file.bytes;
  const otherDigest = file.sha256 !== null && sha256 !== null && sha256 !== file.sha256;
  if (otherSize || otherDigest)
    throw new WrongFile(
      `${url} is not the published file: the hub states ${bytes} bytes, SHA-256 ${sha256}; ` +
        `known are ${file.bytes} bytes, SHA-256 ${file.sha256}. Nothing was downloaded`,
    );
  if (isVerifiable(file)) return { file, stated, isKnown: true };
  if (sha256 === null)
    throw new HubRefusal(
      `the digest of ${file.repo}/${file.path} is not known here, and ${hub.address} states none`,
      false,
    );
  const revision = stated.commit ?? file.revision;
  return { file: { ...file, sha256, revision }, stated, isKnown: false };
}

async function bring({ file, stated }: Wanted, source: Source): Promise<void> {
  const { hub, weights, tell, pauseMs } = source;
  const target = path.join(weights, file.to);
  const bytes = file.bytes ?? stated.bytes;
  const began = await sizeOf(`${target}.part`);
  tell(
    `${file.repo}/${file.path}, ${megabytes(bytes)}${began > 0 ? `, goes on at ${megabytes(began)}` : ''}`,
  );
  const onProgress = tenths(bytes, (percent) => tell(`  ${file.path} ${percent} %`));
  const part = await downloadPart({ hub, file, url: stated.url, bytes, target, onProgress, pauseMs });
  const problem = await problemOf(part, { ...file, bytes });
  if (problem !== null) {
    await discard(part);
    throw new WrongFile(`${stated.url} ${problem}. What was downloaded is deleted`);
  }
  await finish(part, target);
}

/** Calls `tell` at every tenth. */
function tenths(bytes: number | null, tell: (percent: number) => void): (received: number) => void {
  let told = 0;
  return (received) => {
    const tenth = bytes === null ? 0 : Math.floor((10 * received) / bytes);
    if (tenth > told) tell(10 * (told = tenth));
  };
}

function isVerifiable(file: PublishedFile): file is VerifiableFile {
  return file.sha256 !== null;
}

/** Why this file is not the expected one, as far as that is known; null if it is. */
async function problemOf(
  place: string,
  { bytes, sha256 }: Pick<PublishedFile, 'bytes' | 'sha256'>,
): Promise<string | null> {
  const found = await stat(place).catch(() => null);
  if (found?.isFile() !== true) return 'is missing';
  if (bytes !== null && found.size !== bytes) return `has ${found.size} bytes, not ${bytes}`;
  const hex = sha256 === null ? null : await sha256Of(place);
  return hex === sha256 ? null : `has SHA-256 ${hex}, not ${sha256}`;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function megabytes(bytes: number | null): string {
  return bytes === null ? 'of unknown size' : `${(bytes / 1e6).toFixed(1)} MB`;
}
