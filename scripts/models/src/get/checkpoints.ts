import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from '@lipsync/runtime';
import { discard, downloadPart, finish, sizeOf } from './download';
import { addressOf, askHub, type Digest, type Hub, type HubFile, HubRefusal } from './hub';
import { type PublishedFile, type Release } from './published';

/** A file that is in place, and what proves that it is the published one. */
export interface Checkpoint {
  readonly to: string;
  readonly bytes: number;
  readonly proof: 'known digest' | 'digest stated by the hub' | 'nothing: no digest is known or stated';
  /** Where nothing else is known, what was found, for comparison with another source. */
  readonly sha256?: string;
}

/** A file that is not the published one. */
export class WrongFile extends Error {
  override readonly name = 'WrongFile';
}

interface Source {
  readonly hub: Hub;
  /** Folder of the files, laid out as the exporter wants them. */
  readonly weights: string;
  readonly tell: (line: string) => void;
  readonly pauseMs: number;
  /** Called before anything is downloaded, with the bytes that are missing. Rejects if there is no room for them. */
  readonly makeSure: (missingBytes: number) => Promise<void>;
}

/**
 * Brings all files of a release to `weights` and verifies them. Files that are there and right are not asked for again;
 * interrupted ones are continued. Rejects with HubRefusal, which then also says which file to put where, with WrongFile,
 * or as `makeSure` does. What was verified stays, and so do parts.
 */
export async function collectCheckpoints(release: Release, source: Source): Promise<Checkpoint[]> {
  const { hub, weights, tell, makeSure } = source;
  const records = await readRecords(weights);
  const missing: PublishedFile[] = [];
  for (const file of release.files) {
    if ((await problemOf(path.join(weights, file.to), expectation(file, records))) !== null)
      missing.push(file);
  }
  const wanted: Wanted[] = [];
  try {
    for (const file of missing) wanted.push({ file, stated: await askHub(hub, file) });
    for (const each of wanted) refuseOtherVersion(each);
    let bytes = 0;
    for (const { file, stated } of wanted)
      bytes += Math.max(
        0,
        (file.bytes ?? stated.bytes ?? 0) - (await sizeOf(`${path.join(weights, file.to)}.part`)),
      );
    await makeSure(bytes);
    for (const each of wanted) await bring(each, source, records);
  } catch (error) {
    if (!(error instanceof HubRefusal)) throw error;
    const advice = `\n${placement(release, hub, weights, missing)}`;
    throw new HubRefusal(`${error.message}${advice}`, error.passing, { cause: error });
  }
  tell(`${release.files.length} files verified in ${weights}`);
  return Promise.all(release.files.map((file) => describe(file, weights, records)));
}

/**
 * Verifies a folder that somebody else filled. Rejects with WrongFile, naming every file that is missing or not the
 * published one.
 */
export async function checkCheckpoints(release: Release, hub: Hub, weights: string): Promise<Checkpoint[]> {
  const problems: string[] = [];
  for (const file of release.files) {
    const problem = await problemOf(path.join(weights, file.to), expectation(file, {}));
    if (problem !== null) problems.push(`  ${file.to} ${problem}`);
  }
  if (problems.length > 0) {
    const lines = [`${weights} does not hold what was published:`, ...problems];
    throw new WrongFile([...lines, placement(release, hub, weights, release.files)].join('\n'));
  }
  return Promise.all(release.files.map((file) => describe(file, weights, {})));
}

/** What to do by hand where the hub cannot be used. */
function placement(release: Release, hub: Hub, weights: string, files: readonly PublishedFile[]): string {
  const lines = files.map((file) => {
    const size = file.bytes === null ? '' : ` (${file.bytes} bytes)`;
    return `  ${addressOf(hub, file, file.revision)}\n    → ${path.join(weights, file.to)}${size}`;
  });
  const again = `npm run models -- get ${release.engine} --model ${release.model} --files ${weights}`;
  return ['To go on without the hub, put these files there:', ...lines, `and run: ${again}`].join('\n');
}

interface Wanted {
  readonly file: PublishedFile;
  readonly stated: HubFile;
}

/** Before gigabytes are downloaded in vain. */
function refuseOtherVersion({ file, stated }: Wanted): void {
  const { bytes, digest, url } = stated;
  const otherSize = file.bytes !== null && bytes !== null && bytes !== file.bytes;
  const otherDigest = file.sha256 !== null && digest?.kind === 'SHA-256' && digest.hex !== file.sha256;
  if (otherSize || otherDigest)
    throw new WrongFile(
      `${url} is not the published file: the hub states ${bytes} bytes, ${digest?.kind} ${digest?.hex}; ` +
        `known are ${file.bytes} bytes, SHA-256 ${file.sha256}. Nothing was downloaded`,
    );
}

async function bring({ file, stated }: Wanted, source: Source, records: Records): Promise<void> {
  const { hub, weights, tell, pauseMs } = source;
  const target = path.join(weights, file.to);
  const bytes = file.bytes ?? stated.bytes;
  const began = await sizeOf(`${target}.part`);
  tell(
    `${file.repo}/${file.path}, ${megabytes(bytes)}${began > 0 ? `, goes on at ${megabytes(began)}` : ''}`,
  );
  const onProgress = tenths(bytes, (percent) => tell(`  ${file.path} ${percent} %`));
  const part = await downloadPart({ hub, file, url: stated.url, bytes, target, onProgress, pauseMs });
  const expected = { bytes, digest: knownDigest(file) ?? stated.digest };
  const problem = await problemOf(part, expected);
  if (problem !== null) {
    await discard(part);
    throw new WrongFile(`${stated.url} ${problem}. What was downloaded is deleted`);
  }
  await finish(part, target);
  if (expected.digest === null) tell(`  ${file.path}: the hub states no digest, nothing to compare it with`);
  else if (file.sha256 === null)
    tell(`  ${file.path}: verified by the ${expected.digest.kind} that the hub states`);
  records[file.to] = { url: stated.url, ...expected };
  await writeFile(path.join(weights, RECORDS), `${JSON.stringify(records, null, 2)}\n`);
}

/** Calls `tell` at every tenth. */
function tenths(bytes: number | null, tell: (percent: number) => void): (received: number) => void {
  let told = 0;
  return (received) => {
    const tenth = bytes === null ? 0 : Math.floor((10 * received) / bytes);
    if (tenth > told) tell(10 * (told = tenth));
  };
}

interface Expectation {
  readonly bytes: number | null;
  readonly digest: Digest | null;
}

function expectation(file: PublishedFile, records: Records): Expectation {
  const record = records[file.to];
  return {
    bytes: file.bytes ?? record?.bytes ?? null,
    digest: knownDigest(file) ?? record?.digest ?? null,
  };
}

function knownDigest({ sha256 }: PublishedFile): Digest | null {
  return sha256 === null ? null : { kind: 'SHA-256', hex: sha256 };
}

/** Why this file is not the expected one; null if it is. */
async function problemOf(file: string, { bytes, digest }: Expectation): Promise<string | null> {
  const found = await stat(file).catch(() => null);
  if (found?.isFile() !== true) return 'is missing';
  if (bytes !== null && found.size !== bytes) return `has ${found.size} bytes, not ${bytes}`;
  const hex = digest === null ? null : await hexOf(file, found.size, digest.kind);
  return digest === null || hex === digest.hex ? null : `has ${digest.kind} ${hex}, not ${digest.hex}`;
}

async function hexOf(file: string, bytes: number, kind: Digest['kind']): Promise<string> {
  const hash = createHash(kind === 'SHA-256' ? 'sha256' : 'sha1');
  // What git names a file's content by.
  if (kind === 'git object') hash.update(`blob ${bytes}\0`);
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function describe(file: PublishedFile, weights: string, records: Records): Promise<Checkpoint> {
  const place = path.join(weights, file.to);
  const bytes = await sizeOf(place);
  if (file.sha256 !== null) return { to: file.to, bytes, proof: 'known digest' };
  if (records[file.to]?.digest) return { to: file.to, bytes, proof: 'digest stated by the hub' };
  const sha256 = await hexOf(place, bytes, 'SHA-256');
  return { to: file.to, bytes, proof: 'nothing: no digest is known or stated', sha256 };
}

const RECORDS = 'stated-by-the-hub.json';
const recordsSchema = z.record(
  z.string(),
  z.object({
    url: z.string(),
    bytes: z.number().nullable(),
    digest: z.object({ kind: z.enum(['SHA-256', 'git object']), hex: z.string() }).nullable(),
  }),
);
/** By place below the weights: what the hub stated when the file was downloaded, which later runs compare it with. */
type Records = z.output<typeof recordsSchema>;

async function readRecords(weights: string): Promise<Records> {
  try {
    return recordsSchema.parse(JSON.parse(await readFile(path.join(weights, RECORDS), 'utf8')));
  } catch {
    // None yet, or damaged: then the files are asked for again.
    await rm(path.join(weights, RECORDS), { force: true });
    return {};
  }
}

function megabytes(bytes: number | null): string {
  return bytes === null ? 'of unknown size' : `${(bytes / 1e6).toFixed(1)} MB`;
}
