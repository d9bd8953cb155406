import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest, manifestSchema, type PackEngine } from './manifest';
import { claimIn } from './pack-claim';
import { sha256 } from './pack-digest';
import { PackError } from './pack-error';
import { verifyPackFiles } from './verify-pack-files';

/** A pack with a valid manifest. For packs from `openPack`, the files that the manifest names are verified too. */
export interface Pack<M extends Manifest = Manifest> {
  readonly dir: string;
  readonly manifest: M;
  /** SHA-256 of pack.json, which contains every file's digest, so equal digests mean equal packs. */
  readonly digest: string;
}

/** Identifies a pack that was opened before. */
export interface PackRef {
  readonly dir: string;
  readonly digest: string;
}

export const MANIFEST_FILE = 'pack.json';

/**
 * Reads and verifies a pack directory: schema of pack.json, presence and SHA-256 of every file. Whether the graphs
 * compute the right thing is checked where they run. Rejects with PackError.
 */
export async function openPack(dir: string): Promise<Pack> {
  const pack = await readPack(dir);
  await verifyPackFiles(pack);
  return pack;
}

/** Like openPack, for one engine. A pack made for another engine is PackError manifest_invalid. */
export async function openPackFor<E extends PackEngine>(
  engine: E,
  dir: string,
): Promise<Pack<Extract<Manifest, { engine: E }>>> {
  const pack = narrowed(await readPack(dir), engine);
  await verifyPackFiles(pack);
  return pack;
}

/** Reads pack.json only, without checking the files that it names. Rejects with PackError. */
export async function readPack(dir: string): Promise<Pack> {
  const bytes = await readManifestBytes(dir);
  return { dir, manifest: parseManifest(dir, bytes), digest: sha256(bytes) };
}

/**
 * Like readPack, for one engine and for exactly the pack that was opened before. If another pack is in its place,
 * rejects with PackError pack_replaced.
 */
export async function readPackAgain<E extends PackEngine>(
  engine: E,
  { dir, digest }: PackRef,
): Promise<Pack<Extract<Manifest, { engine: E }>>> {
  const pack = await readPack(dir);
  if (pack.digest !== digest) {
    throw new PackError(
      'pack_replaced',
      `${dir}: ${packVersion(pack)} lies where ${digest.slice(0, 12)} was`,
    );
  }
  return narrowed(pack, engine);
}

/** The path of a role's model file. */
export function modelPath(pack: Pack, role: { readonly file: string }): string {
  return join(pack.dir, role.file);
}

/** Name, version and content of a pack in one word, for logs and to distinguish its results. */
export function packVersion(pack: Pack): string {
  return `${pack.manifest.name}@${pack.manifest.version}+${pack.digest.slice(0, 12)}`;
}

function narrowed<E extends PackEngine>(pack: Pack, engine: E): Pack<Extract<Manifest, { engine: E }>> {
  if (isFor(pack, engine)) return pack;
  throw new PackError(
    'manifest_invalid',
    `${pack.dir}: a pack for ${pack.manifest.engine}, not for ${engine}`,
  );
}

function isFor<E extends PackEngine>(pack: Pack, engine: E): pack is Pack<Extract<Manifest, { engine: E }>> {
  return pack.manifest.engine === engine;
}

async function readManifestBytes(dir: string): Promise<Buffer> {
  try {
    return await readFile(join(dir, MANIFEST_FILE));
  } catch (cause) {
    const reason = isAbsent(cause) ? 'pack_missing' : 'manifest_invalid';
    throw new PackError(reason, `${dir}: ${MANIFEST_FILE} cannot be read`, { cause });
  }
}

function isAbsent(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/**
 * The manifest in the bytes of a pack.json.
 * @throws PackError manifest_invalid, beginning with `dir`, if they contain none
 */
export function parseManifest(dir: string, bytes: Buffer): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new PackError('manifest_invalid', `${dir}: ${MANIFEST_FILE} is not JSON`, { cause });
  }
  return checkManifest(dir, json);
}

/**
 * The manifest in `json`.
 * @throws PackError manifest_invalid, naming the first offending field, if it is not valid
 */
export function checkManifest(dir: string, json: unknown): Manifest {
  const parsed = manifestSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined ? '' : ` at ${issue.path.join('.') || 'the top'}: ${issue.message}`;
  const problem = `${dir}: ${MANIFEST_FILE} is not a valid manifest${where}`;
  throw new PackError('manifest_invalid', problem, {}, claimIn(json));
}
