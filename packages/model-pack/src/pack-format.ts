import { constants } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { type Manifest } from './manifest';
import {
  MANIFEST_FILE,
  type Pack,
  type PackClaim,
  PackError,
  packFiles,
  type PackRef,
  packVersion,
  sha256,
  verifyPackFiles,
} from './pack';

/**
 * Reads, writes and publishes packs of the engines whose manifests `schema` describes. `engines` are their names, for
 * manifests that name one of them and are unusable otherwise.
 */
export function createPackFormat<M extends Manifest>(schema: z.ZodType<M>, engines: readonly M['engine'][]) {
  const claimSchema = z.object({
    engine: z.enum(engines).optional().catch(undefined),
    name: z.string().optional().catch(undefined),
  });

  /** What the content of a pack.json claims; nothing if it is not an object. */
  function claimIn(json: unknown): PackClaim {
    const claim = claimSchema.safeParse(json);
    return claim.success ? claim.data : {};
  }

  /**
   * The manifest in `json`.
   * @throws PackError manifest_invalid, naming the first offending field, if it is not valid
   */
  function checkManifest(dir: string, json: unknown): M {
    const parsed = schema.safeParse(json);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const where = issue === undefined ? '' : ` at ${issue.path.join('.') || 'the top'}: ${issue.message}`;
    const problem = `${dir}: ${MANIFEST_FILE} is not a valid manifest${where}`;
    throw new PackError('manifest_invalid', problem, {}, claimIn(json));
  }

  /**
   * The manifest in the bytes of a pack.json.
   * @throws PackError manifest_invalid, beginning with `dir`, if they contain none
   */
  function parseManifest(dir: string, bytes: Buffer): M {
    let json: unknown;
    try {
      json = JSON.parse(bytes.toString('utf8'));
    } catch (cause) {
      throw new PackError('manifest_invalid', `${dir}: ${MANIFEST_FILE} is not JSON`, { cause });
    }
    return checkManifest(dir, json);
  }

  /** Reads pack.json only, without checking the files that it names. Rejects with PackError. */
  async function readPack(dir: string): Promise<Pack<M>> {
    const bytes = await readManifestBytes(dir);
    return { dir, manifest: parseManifest(dir, bytes), digest: sha256(bytes) };
  }

  /**
   * Reads and verifies a pack directory: schema of pack.json, presence and SHA-256 of every file. Whether the graphs
   * compute the right thing is checked where they run. Rejects with PackError.
   */
  async function openPack(dir: string): Promise<Pack<M>> {
    const pack = await readPack(dir);
    await verifyPackFiles(pack);
    return pack;
  }

  /** Like openPack, for one engine. A pack made for another engine is PackError manifest_invalid. */
  async function openPackFor<E extends M['engine']>(
    engine: E,
    dir: string,
  ): Promise<Pack<Extract<M, { engine: E }>>> {
    const pack = narrowed(await readPack(dir), engine);
    await verifyPackFiles(pack);
    return pack;
  }

  /**
   * Like readPack, for one engine and for exactly the pack that was opened before. If another pack is in its place,
   * rejects with PackError pack_replaced.
   */
  async function readPackAgain<E extends M['engine']>(
    engine: E,
    { dir, digest }: PackRef,
  ): Promise<Pack<Extract<M, { engine: E }>>> {
    const pack = await readPack(dir);
    if (pack.digest !== digest) {
      throw new PackError(
        'pack_replaced',
        `${dir}: ${packVersion(pack)} lies where ${digest.slice(0, 12)} was`,
      );
    }
    return narrowed(pack, engine);
  }

  function narrowed<E extends M['engine']>(pack: Pack<M>, engine: E): Pack<Extract<M, { engine: E }>> {
    if (isFor(pack, engine)) return pack;
    throw new PackError(
      'manifest_invalid',
      `${pack.dir}: a pack for ${pack.manifest.engine}, not for ${engine}`,
    );
  }

  function isFor<E extends M['engine']>(
    pack: Pack<M>,
    engine: E,
  ): pack is Pack<M> & Pack<Extract<M, { engine: E }>> {
    return pack.manifest.engine === engine;
  }

  /**
   * Publishes a pack at `dir`, replacing what was there. `fill` writes it to another directory beside it, which is
   * verified and then renamed, so the pack appears complete or not at all. If a pack with this digest is already there,
   * it is left untouched, so several processes may publish the same one at once. Rejects with PackError if `fill` wrote
   * no valid pack, or not the one with this digest.
   */
  async function publishPack(
    dir: string,
    digest: string,
    fill: (directory: string) => Promise<void>,
  ): Promise<Pack<M>> {
    const existing = await readExisting(dir);
    if (existing?.digest === digest) return existing;

    const target = resolve(dir);
    await mkdir(dirname(target), { recursive: true });
    const staging = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
    try {
      const next = join(staging, 'next');
      await mkdir(next);
      await fill(next);
      const written = await openPack(next);
      if (written.digest !== digest) {
        throw new PackError('digest_mismatch', `${dir}: pack.json changed while the pack was being written`);
      }
      if (!(await moved(next, target)) && (await readExisting(dir))?.digest !== digest) {
        await moved(target, join(staging, 'previous'));
        await moved(next, target);
      }
      return { ...written, dir };
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }

  async function readExisting(dir: string): Promise<Pack<M> | null> {
    try {
      return await openPack(dir);
    } catch (error) {
      if (error instanceof PackError) return null; // missing, damaged or another version: write it again
      throw error;
    }
  }

  /**
   * Copies a pack to `dir`, replacing what was there, like publishPack: only the files that its manifest names. Rejects
   * with PackError if the pack has changed since it was opened.
   */
  async function copyPack(pack: Pack, dir: string): Promise<Pack<M>> {
    return publishPack(dir, pack.digest, async (directory) => {
      for (const file of [MANIFEST_FILE, ...packFiles(pack.manifest)])
        // Weights are gigabytes. If the file system can share them, they are not copied.
        await copyFile(join(pack.dir, file), join(directory, file), constants.COPYFILE_FICLONE);
    });
  }

  /**
   * Writes a pack directory, replacing what was there, like publishPack. Rejects with PackError if the manifest is
   * invalid or `models` lacks a file that it names.
   */
  async function writePack(
    dir: string,
    manifest: M,
    models: Readonly<Record<string, Uint8Array>>,
  ): Promise<Pack<M>> {
    const bytes = Buffer.from(`${JSON.stringify(checkManifest(dir, manifest), null, 2)}\n`);
    return publishPack(dir, sha256(bytes), async (directory) => {
      await writeFile(join(directory, MANIFEST_FILE), bytes);
      for (const [file, model] of Object.entries(models)) await writeFile(join(directory, file), model);
    });
  }

  return { parseManifest, readPack, openPack, openPackFor, readPackAgain, publishPack, copyPack, writePack };
}

async function readManifestBytes(dir: string): Promise<Buffer> {
  try {
    return await readFile(join(dir, MANIFEST_FILE));
  } catch (cause) {
    const reason = ['ENOENT', 'ENOTDIR'].includes(codeOf(cause)) ? 'pack_missing' : 'manifest_invalid';
    throw new PackError(reason, `${dir}: ${MANIFEST_FILE} cannot be read`, { cause });
  }
}

/** Renames a directory. Returns false if another builder's is already there, or has already moved the source. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error))) return false;
    throw error;
  }
}

/** The code of an error of the file system. */
function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
