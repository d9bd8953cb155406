import { mkdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { type Row } from '@lipsync/admin';
import { openPack, type Pack } from '@lipsync/engines';
import { type Provider } from '@lipsync/model-pack';
import { verifyPack } from '../packs';
import { type Trial, tryPack } from '../try-pack';
import { checkCheckpoints, collectCheckpoints } from './checkpoints';
import { acceptLicenses, type Consent } from './consent';
import { type Destination } from './destination';
import { exportAnalyzer, readAnalyzer } from './export-analyzer';
import { checkExporter, type Exporter, exportPack, upstreamAt } from './export-pack';
import { type Hub } from './hub';
import { withFolderLock } from './lock';
import { type Release } from './published';

/** What the pack will be. */
interface PackOptions {
  /** By default engine and model. */
  readonly name?: string | undefined;
  readonly half: boolean;
  /** Where it will run. */
  readonly provider: Provider;
  /** Further options of the exporter, as it takes them. */
  readonly further: readonly string[];
}

export interface GetOptions {
  readonly release: Release;
  readonly hub: Hub;
  readonly exporter: Exporter;
  readonly destination: Destination;
  /** Keeps downloads, upstream's code and the pack that is being made. */
  readonly cache: string;
  /** Weights that are there already, laid out as the exporter wants them. */
  readonly files?: string | undefined;
  readonly upstream: { readonly given?: string | undefined; readonly address: string };
  readonly consent: Consent;
  readonly pack: PackOptions;
  /** Packs that are there, for the analyzer that a trial uses, and the detector of a new analyzer. */
  readonly packsDir: string;
  /** What verifies and tries the pack here; null where its provider is not: workers verify it when they start. */
  readonly checks: ({ readonly ffmpeg: string } & Pick<Trial, 'entry' | 'videoFile' | 'audioFile'>) | null;
  readonly tell: (line: string) => void;
  readonly pauseMs?: number;
  readonly room?: Room;
}

/** What a file system can still take; folders on the same one share it. */
type Room = (folder: string) => Promise<{ device: number; free: number }>;

/**
 * From published files to an installed pack: licenses, download, export, verification, a rendered clip, installation.
 * What can be refused is refused before anything is downloaded. Rejects with a message that says what helps, and with
 * FolderInUse while another process makes a pack of the same release in this cache. A pack is installed complete or not
 * at all; verified downloads and parts stay in the cache, and the next call goes on from there.
 */
export async function getPack(options: GetOptions): Promise<Row> {
  const { release, destination } = options;
  const { engine, model } = release;
  const name = options.pack.name ?? `${engine}-${model}`;
  const own = path.resolve(options.cache, `${engine}-${model}`);
  await destination.refuse(name);
  const prepare = await (release.upstream === undefined
    ? analyzerMaker(options, name)
    : exporterOf(options, name));
  await mkdir(own, { recursive: true });
  return withFolderLock(own, async () => {
    await acceptLicenses(release, options.consent);
    return makePack(options, { name, own, make: await prepare() });
  });
}

async function makePack(
  options: GetOptions,
  { name, own, make }: { name: string; own: string; make: Make },
): Promise<Row> {
  const { release, destination, tell } = options;
  // An earlier call that was ended may have left one.
  const out = path.join(own, 'pack');
  await rm(out, { recursive: true, force: true });

  await make(await collect(options, own), out);
  const { pack, figures } = await checked(options, own, out);
  tell(`installing ${name}`);
  const installed = await destination.install(pack).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\n${kept(out)}`, { cause: error });
  });
  await rm(out, { recursive: true, force: true });
  return { ...installed, weights: proofs(release), ...figures };
}

/** Makes a pack of the files in `weights`. */
type Make = (weights: string, out: string) => Promise<void>;

/** Refuses what can be refused at once. What it returns is called with the licenses accepted, and may download code. */
type MakerOf = (options: GetOptions, name: string) => Promise<() => Promise<Make>>;

const exporterOf: MakerOf = async (options, name) => {
  const { release, exporter, tell } = options;
  const { provider, half, further } = options.pack;
  await checkExporter(exporter);
  return async () => {
    const upstream = await upstreamAt(release, { cache: path.resolve(options.cache), ...options.upstream });
    return async (weights, out) => {
      tell(`exporting ${name}, which takes minutes`);
      const precision = half ? ['--fp16'] : [];
      await exportPack(release, exporter, {
        ...{ weights, upstream, out },
        options: ['--name', name, '--provider', provider, ...precision, ...further],
      });
    };
  };
};

const analyzerMaker: MakerOf = async ({ release, packsDir, pack, tell }, name) => {
  const { provider, half, further } = pack;
  if (half || further.length > 0)
    throw new Error(`${name} is made without an exporter: --fp16, --device and --manifests do not apply`);
  const others = await readAnalyzer(packsDir);
  return async () => async (weights, out) => {
    tell(`making ${name}`);
    const file = path.join(weights, release.files[0]?.to ?? '');
    await exportAnalyzer({ file, others, out, name, provider });
  };
};

/** Resolves to the folder of weights. */
async function collect(options: GetOptions, own: string): Promise<string> {
  const { release, hub, destination, pack, files, room, tell, consent, pauseMs = 1000 } = options;
  const packBytes = release.pack_bytes[pack.half ? 'float16' : 'float32'];
  const makeSure = async (missingBytes: number): Promise<void> => {
    // Beside the pack, the exporter writes the graphs once more, with their weights in single precision.
    const made = packBytes + release.pack_bytes.float32;
    const needs: Need[] = [{ folder: own, bytes: missingBytes + made }];
    if (destination.folder !== undefined) needs.push({ folder: destination.folder, bytes: packBytes });
    await makeSureOfSpace(needs, room);
  };
  const weights = files === undefined ? path.join(own, 'weights') : path.resolve(files);
  const place = { hub, weights, consent, record: path.join(own, 'confirmed-digests.json') };
  if (files === undefined) {
    await mkdir(weights, { recursive: true });
    await collectCheckpoints(release, { ...place, tell, pauseMs, makeSure });
  } else {
    await checkCheckpoints(release, place);
    await makeSure(0);
  }
  return weights;
}

/** Bytes that will be written below a folder. */
interface Need {
  readonly folder: string;
  readonly bytes: number;
}

/** Creates the folders, and rejects if a file system has not the room for all that will be written to it. */
async function makeSureOfSpace(needs: readonly Need[], room: Room = roomOf): Promise<void> {
  const devices = new Map<number, { folder: string; free: number; bytes: number }>();
  for (const { folder, bytes } of needs) {
    await mkdir(folder, { recursive: true });
    const { device, free } = await room(folder);
    const before = devices.get(device);
    devices.set(device, { folder: before?.folder ?? folder, free, bytes: bytes + (before?.bytes ?? 0) });
  }
  for (const { folder, free, bytes } of devices.values())
    if (bytes > free)
      throw new Error(
        `${folder} has ${gigabytes(free)} GB free, and ${gigabytes(bytes)} GB are needed. Nothing was downloaded`,
      );
}

async function roomOf(folder: string): Promise<{ device: number; free: number }> {
  const [{ dev }, { bavail, bsize }] = await Promise.all([stat(folder), statfs(folder)]);
  return { device: dev, free: bavail * bsize };
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

/** Verifies the exported pack and renders a clip with it. */
async function checked(
  { checks, packsDir, tell }: GetOptions,
  own: string,
  out: string,
): Promise<{ pack: Pack; figures: Row }> {
  if (checks === null) {
    tell('neither verified nor tried here: see that the first worker that gets it serves it');
    return { pack: await openPack(out), figures: {} };
  }
  const { ffmpeg, ...child } = checks;
  tell('verifying the pack');
  const { pack, problem } = await verifyPack(out, child);
  if (pack === undefined)
    throw new Error(`not installed: ${problem ?? 'it could not be verified'}\n${kept(out)}`);
  tell('rendering a clip with it');
  const outputFile = path.join(own, 'try.mp4');
  try {
    return { pack, figures: await tryPack(ffmpeg, out, { outputFile, packsDir, ...child }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`not installed: ${reason}\n${kept(out)}`, { cause: error });
  }
}

const kept = (out: string): string => `The pack stays in ${out} until the next call`;

/** By what the weights are known to be the published ones. */
function proofs({ files }: Release): string {
  const known = files.filter(({ sha256 }) => sha256 !== null).length;
  const confirmed = files.length - known;
  return `${known} by known digest${confirmed === 0 ? '' : `, ${confirmed} by a digest that you confirmed`}`;
}
