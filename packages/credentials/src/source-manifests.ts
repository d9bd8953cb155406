import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { boxAt, C2PA_USER_TYPE, childBoxes, storeIn, topLevelBoxes } from './boxes';

/** The manifests that a source carries, to be kept beside the output's own. */
export interface SourceManifests {
  /** All of them as they are, oldest first: JUMBF boxes. */
  readonly bytes: Buffer;
  /** The label of the one that describes the source. */
  readonly label: string;
  /** SHA-256 of that manifest, and of its signature, as C2PA hashes JUMBF boxes: without their headers. */
  readonly hash: Uint8Array;
  readonly signatureHash: Uint8Array;
}

/** Whoever made the source also chose the size of its manifests. */
const STORE_BYTES_MAX = 4 * 1024 ** 2;

const SIGNATURE_LABEL = 'c2pa.signature';

/**
 * The manifests of an MP4 or QuickTime file. Null if it carries none, or none that can be kept: of more than 4 MiB,
 * several stores, malformed, or among more boxes than a video has. Reads the headers of boxes and that store, nothing else.
 */
export async function readSourceManifests(path: string): Promise<SourceManifests | null> {
  const file = await open(path);
  try {
    const boxes = (await topLevelBoxes(file)) ?? [];
    let found: Buffer | null = null;
    for (const { type, offset, size } of boxes) {
      if (type !== 'uuid' || size > STORE_BYTES_MAX) continue;
      const { buffer } = await file.read(Buffer.alloc(size), 0, size, offset);
      if (buffer.subarray(8, 8 + C2PA_USER_TYPE.length).equals(C2PA_USER_TYPE)) {
        // An update manifest is in a second box, which changes the meaning of the first.
        const store = storeIn(buffer);
        if (store === null || found !== null) return null;
        found = store;
      }
    }
    return found && parseStore(found);
  } finally {
    await file.close();
  }
}

/** A JUMBF superbox: its label and the boxes in it, the description left out. */
function superbox(bytes: Buffer, offset: number, size: number) {
  const [description, ...content] = childBoxes(bytes, offset + 8, offset + size) ?? [];
  if (description?.type !== 'jumd') return null;
  // Type and toggles come before the label, which ends with a zero.
  const from = description.offset + 8 + 16 + 1;
  const end = bytes.indexOf(0, from);
  if (end < 0 || end >= description.offset + description.size) return null;
  return { label: bytes.toString('utf8', from, end), content };
}

function parseStore(bytes: Buffer): SourceManifests | null {
  const outer = boxAt(bytes, 0, bytes.length);
  const store = outer?.type === 'jumb' ? superbox(bytes, 0, outer.size) : null;
  const first = store?.content[0];
  const active = store?.content.at(-1);
  if (store?.label !== 'c2pa' || !first || active?.type !== 'jumb') return null;
  const manifest = superbox(bytes, active.offset, active.size);
  const signature = manifest?.content.find(
    ({ type, offset, size }) => type === 'jumb' && superbox(bytes, offset, size)?.label === SIGNATURE_LABEL,
  );
  if (!manifest || !signature) return null;
  const hashOf = ({ offset, size }: { offset: number; size: number }): Uint8Array =>
    new Uint8Array(
      createHash('sha256')
        .update(bytes.subarray(offset + 8, offset + size))
        .digest(),
    );
  return {
    bytes: bytes.subarray(first.offset, active.offset + active.size),
    label: manifest.label,
    hash: hashOf(active),
    signatureHash: hashOf(signature),
  };
}
