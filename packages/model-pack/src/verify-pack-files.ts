import { join } from 'node:path';
import { type Manifest } from './manifest';
import { sha256OfFile } from './pack-digest';
import { PackError } from './pack-error';
import { packRoles } from './pack-roles';

export interface VerifyFilesOptions {
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
