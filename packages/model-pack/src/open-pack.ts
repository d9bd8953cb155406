import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest, manifestSchema, type PackEngine } from './manifest';
import { sha256, sha256OfFile } from './pack-digest';
import { PackError } from './pack-error';
import { packRoles } from './pack-roles';

/** A pack whose manifest is well-formed and whose files are the ones the manifest names. */
export interface Pack<M extends Manifest = Manifest> {
  readonly dir: string;
  readonly manifest: M;
  /** SHA-256 of pack.json, which names every file's digest: equal digests mean equal packs. */
  readonly digest: string;
}

interface FileEntry {
  readonly file: string;
  readonly sha256: string;
}

export const MANIFEST_FILE = 'pack.json';

/**
 * Reads and verifies a pack directory: schema of pack.json, presence and SHA-256 of every file.
 * Whether the graphs compute the right thing is checked where they run. Rejects with PackError.
 */
export async function openPack(dir: string): Promise<Pack> {
  const bytes = await readManifestBytes(dir);
  const manifest = parseManifest(dir, bytes);
  for (const [role, files] of packRoles(manifest)) {
    for (const entry of [files, ...(files.externalData ?? [])]) await verifyFile(dir, role, entry);
  }
  return { dir, manifest, digest: sha256(bytes) };
}

/** As openPack, for one engine: a pack made for another is PackError manifest_invalid. */
export async function openPackFor<E extends PackEngine>(
  engine: E,
  dir: string,
): Promise<Pack<Extract<Manifest, { engine: E }>>> {
  const pack = await openPack(dir);
  if (!isFor(pack, engine)) {
    throw new PackError('manifest_invalid', `${dir}: a pack for ${pack.manifest.engine}, not for ${engine}`);
  }
  return pack;
}

/** Where a role's model file lies. */
export function modelPath(pack: Pack, role: { readonly file: string }): string {
  return join(pack.dir, role.file);
}

/** Name, version and content of a pack in one word, for logs and for telling apart what it produced. */
export function packVersion(pack: Pack): string {
  return `${pack.manifest.name}@${pack.manifest.version}+${pack.digest.slice(0, 12)}`;
}

function isFor<E extends PackEngine>(pack: Pack, engine: E): pack is Pack<Extract<Manifest, { engine: E }>> {
  return pack.manifest.engine === engine;
}

async function readManifestBytes(dir: string): Promise<Buffer> {
  try {
    return await readFile(join(dir, MANIFEST_FILE));
  } catch (cause) {
    throw new PackError('pack_missing', `${dir}: ${MANIFEST_FILE} cannot be read`, { cause });
  }
}

/** What the bytes of a pack.json say; PackError manifest_invalid, beginning with `dir`, when they are none. */
export function parseManifest(dir: string, bytes: Buffer): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new PackError('manifest_invalid', `${dir}: ${MANIFEST_FILE} is not JSON`, { cause });
  }
  return checkManifest(dir, json);
}

/** The manifest in `json`; PackError manifest_invalid, naming the first offending field, when there is none. */
export function checkManifest(dir: string, json: unknown): Manifest {
  const parsed = manifestSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined ? '' : ` at ${issue.path.join('.') || 'the top'}: ${issue.message}`;
  throw new PackError('manifest_invalid', `${dir}: ${MANIFEST_FILE} is not a valid manifest${where}`);
}

async function verifyFile(dir: string, role: string, entry: FileEntry): Promise<void> {
  let actual: string;
  try {
    actual = await sha256OfFile(join(dir, entry.file));
  } catch (cause) {
    throw new PackError('file_missing', `${dir}: ${entry.file} (${role}) cannot be read`, { cause });
  }
  if (actual !== entry.sha256) {
    throw new PackError(
      'digest_mismatch',
      `${dir}: ${entry.file} (${role}) has SHA-256 ${actual}, ${entry.sha256} expected`,
    );
  }
}
