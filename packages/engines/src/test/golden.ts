import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { SAMPLE_RATE } from '../speech/log-mel';

const numbers = z.array(z.number()).min(1);

/**
 * What an upstream repository's own code computed with the networks of a pack; written by scripts/export/golden_*.py.
 */
const goldenSchema = z.object({
  inputs: z.object({ seconds: z.number() }),
  /** [frames, 3, side, side]. */
  shape: numbers,
  /** Per frame. */
  means: numbers,
  rms: numbers,
  /** Every `stride`-th element of all pictures, concatenated. */
  stride: z.number(),
  elements: numbers,
  /** Largest deviation of an element. */
  tolerance: z.number(),
});

type Golden = z.infer<typeof goldenSchema>;

export const readGolden = (file: string): Golden =>
  goldenSchema.parse(JSON.parse(readFileSync(file, 'utf8')));

/** The picture in frame `frame`, [3, side, side] in [-1, 1]; the formula of scripts/export/golden/inputs.py. */
export function goldenPicture(frame: number, side: number): Float32Array<ArrayBuffer> {
  const level = (i: number): number => Math.floor(127.5 + 110 * Math.sin(0.05 * i + 0.7 * frame) + 0.5);
  return new Float32Array(3 * side * side).map((_, i) => level(i) / 127.5 - 1);
}

/** Two tones that swell and fade, mono, 16 kHz; the formula of scripts/export/golden/inputs.py. */
export function goldenSound(seconds: number): Float32Array<ArrayBuffer> {
  const tone = (hertz: number, i: number): number => Math.sin((2 * Math.PI * hertz * i) / SAMPLE_RATE);
  return new Float32Array(Math.round(seconds * SAMPLE_RATE)).map(
    (_, i) => (0.5 * tone(440, i) + 0.25 * tone(1500, i)) * (0.55 + 0.45 * tone(3, i)),
  );
}

/** The largest deviation from the recorded numbers: elements, and every frame's mean and root mean square. */
export function deviation(images: readonly Float32Array[], golden: Golden): number {
  const size = golden.shape.slice(1).reduce((product, dim) => product * dim, 1);
  let worst = 0;
  const compare = (actual: number, wanted: number): void => {
    const off = Math.abs(actual - wanted);
    // NaN counts as an infinite deviation.
    worst = off <= worst ? worst : Number.isFinite(off) ? off : Infinity;
  };
  golden.elements.forEach((wanted, i) => {
    const at = i * golden.stride;
    compare(images[Math.floor(at / size)]?.[at % size] ?? NaN, wanted);
  });
  images.forEach((image, frame) => {
    const meanOf = (of: (value: number) => number): number =>
      image.reduce((sum, value) => sum + of(value), 0) / image.length;
    compare(
      meanOf((value) => value),
      golden.means[frame] ?? NaN,
    );
    compare(Math.sqrt(meanOf((value) => value * value)), golden.rms[frame] ?? NaN);
  });
  return worst;
}

/** All packs below a folder that holds one folder per golden numbers, with one pack or more in it. */
export function goldenPacks(parent: string) {
  const foldersIn = (place: string): string[] =>
    readdirSync(place, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  return foldersIn(parent).flatMap((name) => {
    const folder = join(parent, name);
    return foldersIn(folder).map((pack) => ({
      name: `${name}/${pack}`,
      folder,
      directory: join(folder, pack),
    }));
  });
}

/** The location of a pack, and the removal of what had to be written for it. */
export interface GoldenPack {
  readonly directory: string;
  readonly remove: () => void;
}

/** A pack kept with golden numbers; if its files are stored compressed, they are unpacked elsewhere. */
export function goldenPack(kept: string): GoldenPack {
  const names = readdirSync(kept);
  if (!names.some((name) => name.endsWith('.gz'))) return { directory: kept, remove: () => undefined };
  const directory = mkdtempSync(join(tmpdir(), 'golden-pack-'));
  for (const name of names) {
    const file = join(kept, name);
    if (name.endsWith('.gz')) {
      writeFileSync(join(directory, name.slice(0, -'.gz'.length)), gunzipSync(readFileSync(file)));
    } else copyFileSync(file, join(directory, name));
  }
  return { directory, remove: () => rmSync(directory, { recursive: true }) };
}
