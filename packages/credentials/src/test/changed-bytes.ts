import fc from 'fast-check';
import { activeManifest, readCredentials } from './read-credentials';

/** A changed byte of a file. */
interface Change {
  readonly at: number;
  readonly xor: number;
}

/**
 * Changes a byte anywhere in a signed file, `count` times, and returns the changes by which somebody could be deceived:
 * c2pa-rs trusts the file, and either the byte is not of its head, or the manifest says something else. (C2PA leaves
 * `ftyp` and the labels of the manifest's boxes unsigned.) The same seed makes the same changes.
 */
export async function deceptions(
  file: Uint8Array,
  authority: string,
  { count, seed, head }: { readonly count: number; readonly seed: number; readonly head: number },
): Promise<Change[]> {
  const truth = JSON.stringify(saysOf(await readCredentials(file, authority)));
  // Without the bias toward small numbers, which would try the head of the file again and again.
  const change = fc.noBias(fc.record({ at: fc.nat(file.length - 1), xor: fc.integer({ min: 1, max: 255 }) }));
  const found: Change[] = [];
  for (const { at, xor } of fc.sample(change, { numRuns: count, seed })) {
    const changed = Uint8Array.from(file);
    changed[at] = (changed[at] ?? 0) ^ xor;
    const report = await readCredentials(changed, authority).catch(() => null);
    if (report?.validation_state !== 'Trusted') continue;
    if (at >= head || JSON.stringify(saysOf(report)) !== truth) found.push({ at, xor });
  }
  return found;
}

/** What a manifest says, without its own name. */
function saysOf(report: Parameters<typeof activeManifest>[0]): object {
  return { ...activeManifest(report), label: '' };
}
