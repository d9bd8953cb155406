import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ENGINES } from '@lipsync/contract';
import { type PackEngine } from '@lipsync/engines';
import { z } from '@lipsync/runtime';

const COMMIT = z.string().regex(/^[0-9a-f]{40}$/);
export const SHA256 = z.string().regex(/^[0-9a-f]{64}$/);
const relativePath = z.string().regex(/^(?!.*\.\.)[\w-][\w./-]*$/);

const fileSchema = z.strictObject({
  /** A repository of the hub, and a revision of it: a commit, or a branch where no commit is known. */
  repo: z.string(),
  revision: z.string(),
  path: relativePath,
  /** Where the exporter looks for the file, below its folder of weights. */
  to: relativePath,
  /** Null where nobody could look. */
  bytes: z.int().positive().nullable(),
  /** Null if no public source states it: then the user has to confirm the one that the hub states. */
  sha256: SHA256.nullable(),
});

const licenseSchema = z.strictObject({ of: z.string(), terms: z.string(), text: z.url() });

/** What packs are made for. */
export const SUBJECTS: readonly PackEngine[] = [...ENGINES, 'analyzer'];

const releaseSchema = z.strictObject({
  engine: z.enum(SUBJECTS),
  model: z.string(),
  /**
   * On GitHub: the code that loads the weights, at the commit with which the exporter was tested. Absent where the
   * published file is a graph, which needs neither.
   */
  upstream: z.strictObject({ repository: z.string(), commit: COMMIT }).optional(),
  /** Arguments of the exporter beside those that all exporters take; `{weights}` is the folder of weights. */
  exporter: z.array(z.string()).default([]),
  /** Sizes of the finished pack, rounded. */
  pack_bytes: z.strictObject({ float32: z.int(), float16: z.int() }),
  licenses: z.array(licenseSchema).min(1),
  files: z.array(fileSchema).min(1),
  /** What a network does without, and why one may have to: wanted only by name. */
  face_parser: z.strictObject({ licenses: z.array(licenseSchema), files: z.array(fileSchema) }).optional(),
});

export type PublishedFile = z.output<typeof fileSchema>;
/** A published release of an engine's weights: which files, from where, under which licenses, and what exports them. */
export type Release = z.output<typeof releaseSchema>;

const PUBLISHED = path.resolve(__dirname, '..', '..', 'published');

interface Choices {
  readonly model?: string | undefined;
  readonly faceParser?: boolean;
  /** The interval of DeepCache, or false to do without. By default it is upstream's. */
  readonly deepCache?: number | boolean | undefined;
  readonly distilled?: Distilled | undefined;
}

/** A UNet of latentsync that somebody distilled to a few steps. */
export interface Distilled {
  /** A file, or one of the hub: `owner/repository/path`, where a `@revision` may follow. */
  readonly from: string;
  /** What it was distilled to, as the exporter takes it. */
  readonly timesteps: string;
  readonly guidance: string;
}

/**
 * The release of an engine with this model number, by default the newest. Rejects if there is none, or if it lacks what
 * is chosen.
 */
export async function publishedRelease(
  engine: PackEngine,
  { model, faceParser = false, deepCache, distilled }: Choices = {},
): Promise<Release> {
  const text = await readFile(path.join(PUBLISHED, `${engine}.json`), 'utf8');
  const releases = z.array(releaseSchema).parse(JSON.parse(text));
  const wanted = releases.find((release) => model === undefined || release.model === model);
  if (wanted === undefined) {
    const known = releases.map((release) => release.model).join(', ');
    throw new Error(`${engine} ${model} is not known here; known: ${known}`);
  }
  if (deepCache !== undefined && engine !== 'latentsync') throw new Error(`${engine} has no DeepCache`);
  const release = { ...wanted, exporter: [...wanted.exporter, ...deepCacheArguments(deepCache)] };
  if (distilled !== undefined) return withDistilled(release, distilled);
  if (!faceParser) return release;
  const { face_parser: parser } = wanted;
  if (parser === undefined) throw new Error(`${engine} has no face parser`);
  return {
    ...release,
    licenses: [...release.licenses, ...parser.licenses],
    files: [...release.files, ...parser.files],
  };
}

/** The release with a distilled UNet in the place of its own, which is not needed then. */
function withDistilled(release: Release, { from, timesteps, guidance }: Distilled): Release {
  if (release.engine !== 'latentsync') throw new Error(`no distilled network of ${release.engine} is known`);
  if (release.exporter.includes('--deep-cache'))
    throw new Error('--distilled and --deep-cache exclude each other: the steps are too far apart');
  const file = existsSync(from) ? null : hubFile(from);
  const place = file === null ? path.resolve(from) : `{weights}/${file.to}`;
  const others = release.files.filter(({ to }) => to !== 'latentsync_unet.pt');
  const page = { of: `its UNet distilled, ${from}`, terms: 'stated on its page' };
  return {
    ...release,
    model: `${release.model}-${timesteps.split(',').length}-steps`,
    exporter: [
      ...release.exporter,
      ...['--distilled', place, '--timesteps', timesteps, '--guidance', guidance],
    ],
    files: file === null ? others : [...others, file],
    // It was made of the release's weights, whose terms go on holding.
    licenses:
      file === null
        ? release.licenses
        : [...release.licenses, { ...page, text: `https://huggingface.co/${file.repo}` }],
  };
}

const HUB_FILE = /^(?<repo>[\w.-]+\/[\w.-]+)\/(?<path>[\w-][\w./-]*?)(?:@(?<revision>[\w./-]+))?$/;

/** Its digest is not known here: the user has to confirm the one that the hub states. */
function hubFile(address: string): PublishedFile {
  const { repo, path: file, revision = 'main' } = HUB_FILE.exec(address)?.groups ?? {};
  if (repo === undefined || file === undefined || file.includes('..'))
    throw new Error(`${address} is neither a local file nor one of the hub (owner/repository/path)`);
  const to = `distilled/${path.posix.basename(file)}`;
  return { repo, revision, path: file, to, bytes: null, sha256: null };
}

function deepCacheArguments(deepCache: Choices['deepCache']): string[] {
  if (deepCache === false) return ['--no-deep-cache'];
  return typeof deepCache === 'number' ? ['--deep-cache', String(deepCache)] : [];
}
