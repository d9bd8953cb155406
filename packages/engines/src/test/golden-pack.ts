import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

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
