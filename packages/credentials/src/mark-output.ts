import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { type Box, provenanceBox, provenanceBoxSize, shiftChunks, topLevelBoxes, UNBOUND } from './boxes';
import { createManifest, type Provenance } from './manifest';
import { type ContentSigner } from './signer';
import { readSourceManifests } from './source-manifests';

/** How much of a file is in memory at once, besides its index. */
const PIECE_BYTES = 1024 ** 2;

/**
 * Signs an MP4 as ffmpeg writes it with its index first: puts a C2PA manifest store behind `ftyp`, bound to every byte
 * of the file but `ftyp` itself. The file is copied once, through a piece of memory, and replaced when it is complete;
 * when that fails it stays as it was. `source` is the video that it was made of, whose manifests are kept.
 */
export async function markOutput(
  signer: ContentSigner,
  file: string,
  { source, ...provenance }: Provenance & { readonly source: string },
): Promise<void> {
  const identity = await signer.identity();
  const manifest = await createManifest(identity, provenance, await readSourceManifests(source));
  const marked = `${file}.marked`;
  const from = await open(file);
  try {
    const to = await open(marked, 'wx');
    try {
      const gap = provenanceBoxSize(manifest.bytes);
      const { hash, at } = await copyWithGap(from, to, gap);
      const box = provenanceBox(await manifest.sign(hash));
      if (box.length !== gap) throw new Error('the manifest has another size than it was given');
      await writeAt(to, box, at);
      await to.close();
      await rename(marked, file);
    } finally {
      await to.close().catch(() => undefined);
      await rm(marked, { force: true });
    }
  } finally {
    await from.close();
  }
}

/**
 * Copies an MP4 and leaves `gap` bytes behind its `ftyp`, which its index then allows for. Returns where the gap is, and
 * the SHA-256 by which C2PA binds the copy (2.2, section 18.6.3): of each box its place in 8 bytes, and its bytes.
 */
async function copyWithGap(
  from: FileHandle,
  to: FileHandle,
  gap: number,
): Promise<{ hash: Uint8Array; at: number }> {
  const boxes = await topLevelBoxes(from);
  const [first] = boxes ?? [];
  if (boxes === null || first?.type !== 'ftyp') throw new Error('the file does not begin as an MP4');
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (const box of boxes) {
    const place = box === first ? 0 : box.offset + gap;
    const bound = UNBOUND.includes(box.type) ? null : hash;
    bound?.update(bigEndian(place));
    if (box.type === 'moov') await copyIndex(from, to, box, gap, bound);
    else await copyBox(from, to, box, place, piece, bound);
  }
  return { hash: new Uint8Array(hash.digest()), at: first.size };
}

async function copyIndex(
  from: FileHandle,
  to: FileHandle,
  box: Box,
  gap: number,
  bound: Hash | null,
): Promise<void> {
  const { buffer, bytesRead } = await from.read(Buffer.alloc(box.size), 0, box.size, box.offset);
  if (bytesRead !== box.size) throw new Error('the file ends early');
  shiftChunks(buffer, gap);
  bound?.update(buffer);
  await writeAt(to, buffer, box.offset + gap);
}

async function copyBox(
  from: FileHandle,
  to: FileHandle,
  { offset, size }: Box,
  place: number,
  piece: Buffer,
  bound: Hash | null,
): Promise<void> {
  for (let done = 0; done < size;) {
    const wanted = Math.min(piece.length, size - done);
    const { bytesRead } = await from.read(piece, 0, wanted, offset + done);
    if (bytesRead === 0) throw new Error('the file ends early');
    const bytes = piece.subarray(0, bytesRead);
    bound?.update(bytes);
    await writeAt(to, bytes, place + done);
    done += bytesRead;
  }
}

/** A full disk may take a part before it refuses the rest. */
async function writeAt(to: FileHandle, bytes: Buffer, place: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await to.write(bytes, done, bytes.length - done, place + done);
    done += bytesWritten;
  }
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
