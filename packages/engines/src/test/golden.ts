import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { SAMPLE_RATE } from '../speech/log-mel';

/**
 * What an upstream repository's own code computed with the networks of a pack; written by scripts/export/golden_*.py.
 */
interface Golden {
  readonly inputs: { readonly seconds: number };
  /** [frames, 3, side, side]. */
  readonly shape: readonly number[];
  /** Per frame. */
  readonly means: readonly number[];
  readonly rms: readonly number[];
  /** Every `stride`-th element of all pictures, concatenated. */
  readonly stride: number;
  readonly elements: readonly number[];
  /** Largest deviation of an element. */
  readonly tolerance: number;
}

export function readGolden(file: string): Golden {
  const golden: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isGolden(golden)) throw new TypeError(`${file} is not of the form that is written today`);
  return golden;
}

function isGolden(value: unknown): value is Golden {
  return (
    isRecord(value) &&
    isRecord(value['inputs']) &&
    [value['inputs']['seconds'], value['stride'], value['tolerance']].every(Number.isFinite) &&
    [value['shape'], value['means'], value['rms'], value['elements']].every(
      (list) => Array.isArray(list) && list.length > 0 && list.every(Number.isFinite),
    )
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

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

/** The location of a pack, and the removal of what had to be written for it. */
export interface GoldenPack {
  readonly directory: string;
  readonly remove: () => void;
}

/** The pack in a folder of golden numbers; if its files are stored compressed, they are unpacked elsewhere. */
export function goldenPack(folder: string): GoldenPack {
  const kept = join(folder, 'pack');
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
