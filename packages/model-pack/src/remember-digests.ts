import { stat } from 'node:fs/promises';
import { sha256OfFile } from './pack-digest';

/**
 * SHA-256 of files, for somebody who asks again and again: weights are gigabytes. A file is read anew only when it is
 * another one than it was, or was written to since, as its inode, size and times tell.
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
    // What the file was before it was read: one that is written to meanwhile will not be that any more.
    const digest = await digestOf(path);
    known.set(path, { identity, digest });
    return digest;
  };
}
