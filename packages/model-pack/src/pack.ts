import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Manifest, packRoles } from './manifest';

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

/** The path of a role's model file. */
export function modelPath(pack: Pack, role: { readonly file: string }): string {
  return join(pack.dir, role.file);
}

/** Name, version and content of a pack in one word, for logs and to distinguish its results. */
export function packVersion(pack: Pack): string {
  return `${pack.manifest.name}@${pack.manifest.version}+${pack.digest.slice(0, 12)}`;
}

/** What a folder claims to contain, even if the rest of its pack.json is unusable. */
export interface PackClaim {
  readonly engine?: string | undefined;
  readonly name?: string | undefined;
}

/** Why a pack cannot be used. An engine without a usable pack is unavailable; it never renders something wrong. */
export class PackError extends Error {
  override readonly name = 'PackError';
  constructor(
    readonly reason:
      'pack_missing' | 'pack_replaced' | 'manifest_invalid' | 'file_missing' | 'digest_mismatch',
    message: string,
    options?: ErrorOptions,
    /** For a manifest that exists but is unusable: what it claims nevertheless. */
    readonly claim: PackClaim = {},
  ) {
    super(message, options);
  }
}

/** The files that a manifest names, each once, because roles may share weights. */
export function packFiles(manifest: Manifest): string[] {
  return [...new Set(filesByRole(manifest))];
}

/** Total bytes of a pack's files, including its manifest. Rejects with PackError if one is missing. */
export function packSize(pack: Pack): Promise<number> {
  return sizeOf(pack, [MANIFEST_FILE, ...packFiles(pack.manifest)]);
}

/**
 * Bytes of memory that a pack's weights take: every graph loads its own copy, also of a file that it shares with
 * another. Rejects with PackError if a file is missing.
 */
export function weightsSize(pack: Pack): Promise<number> {
  return sizeOf(pack, filesByRole(pack.manifest));
}

function filesByRole(manifest: Manifest): string[] {
  const roles = [...packRoles(manifest).values()];
  return roles.flatMap((role) => [role, ...(role.externalData ?? [])].map(({ file }) => file));
}

async function sizeOf({ dir }: Pack, files: readonly string[]): Promise<number> {
  const sizes = files.map(async (file) => {
    try {
      return (await stat(join(dir, file))).size;
    } catch (cause) {
      throw new PackError('file_missing', `${dir}: ${file} cannot be read`, { cause });
    }
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

interface VerifyFilesOptions {
  /** Roles whose files to verify; all by default. */
  readonly roles?: readonly string[];
  /** Computes the SHA-256 of a file; by default reads the whole file. */
  readonly digestOf?: (path: string) => Promise<string>;
}

/** Compares the files of a pack with their digests in the manifest, each once. Rejects with PackError. */
export async function verifyPackFiles(
  { dir, manifest }: { readonly dir: string; readonly manifest: Manifest },
  { roles, digestOf = sha256OfFile }: VerifyFilesOptions = {},
): Promise<void> {
  const verified = new Set<string>();
  for (const [role, files] of packRoles(manifest)) {
    if (roles && !roles.includes(role)) continue;
    for (const { file, sha256 } of [files, ...(files.externalData ?? [])]) {
      // Roles may share weights.
      if (verified.has(`${file} ${sha256}`)) continue;
      const actual = await digestOf(join(dir, file)).catch((cause: unknown) => {
        throw new PackError('file_missing', `${dir}: ${file} (${role}) cannot be read`, { cause });
      });
      if (actual !== sha256) {
        const found = `${dir}: ${file} (${role}) has SHA-256 ${actual}, ${sha256} expected`;
        throw new PackError('digest_mismatch', found);
      }
      verified.add(`${file} ${sha256}`);
    }
  }
}

/** SHA-256 of bytes in memory, lower-case hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** SHA-256 of a file, streamed because official weights are gigabytes. Rejects with the file system's error. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * Caches SHA-256 digests of files for repeated checks, because weights are gigabytes. A file is read again only if its
 * inode, size or times show that it was replaced or written to.
 */
export function rememberDigests(
  digestOf: (path: string) => Promise<string> = sha256OfFile,
): (path: string) => Promise<string> {
  const known = new Map<string, { readonly identity: string; readonly digest: string }>();
  return async (path) => {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    const identity = [dev, ino, size, mtimeNs, ctimeNs].join();
    const found = known.get(path);
    if (found?.identity === identity) return found.digest;
    // The state of the file before it was read. A file that is written to meanwhile will have another one.
    const digest = await digestOf(path);
    known.set(path, { identity, digest });
    return digest;
  };
}

/** The `file` and `sha256` of a role, for the manifest that belongs to these bytes. */
export function modelFile(file: string, model: Uint8Array): { file: string; sha256: string } {
  return { file, sha256: sha256(model) };
}
