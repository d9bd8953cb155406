import { stat } from 'node:fs/promises';
import { sha256OfFile } from './pack-digest';

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
