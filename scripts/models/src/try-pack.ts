import { access, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Row } from '@lipsync/admin';
import { type Engine } from '@lipsync/contract';
import { type Manifest, type Pack, type PackEngine, readPack } from '@lipsync/engines';
import { openPackFolders, type PackFolder, type RenderResult, startInference } from '@lipsync/gpu-worker';
import { MANIFEST_FILE, packFiles, packVersion } from '@lipsync/model-pack';
import { checkedPack } from './packs';
import { makeClip } from './sample-clip';

export interface Trial {
  /** Path for the rendered video. Written when the render has succeeded, and not touched before. */
  readonly outputFile: string;
  /** The media to render; default: the drawn face and its voice. */
  readonly videoFile?: string | undefined;
  readonly audioFile?: string | undefined;
  /** Folder of the other packs: the face analyzer that locates the face and analyzes the result, or an engine's. */
  readonly packsDir: string;
  /** The compiled inference child. */
  readonly entry?: string;
}

/** Three seconds: the minimum for measuring the sync of a render. */
const CLIP = { width: 1280, height: 720, seconds: 3, fps: 25, grain: 4 };

/** Renders with a face analyzer under trial. */
const TRIAL_ENGINE = 'musetalk';

/**
 * Renders a clip with exactly this pack, on the provider that a worker would choose for it, and returns what the render
 * reports. An engine's pack renders with the analyzer that serves, an analyzer with the pack that serves musetalk.
 * Rejects, with one line, when the pack is unusable or the render fails.
 */
export async function tryPack(ffmpeg: string, dir: string, trial: Trial): Promise<Row> {
  const child = trial.entry === undefined ? {} : { entry: trial.entry };
  const pack = await readPack(dir);
  // Before the pack is loaded, which may take minutes.
  for (const file of [trial.videoFile, trial.audioFile]) if (file !== undefined) await access(file);
  const { packs } = await openPackFolders(trial.packsDir);
  const isAnalyzer = pack.manifest.engine === 'analyzer';
  const engine = pack.manifest.engine === 'analyzer' ? TRIAL_ENGINE : pack.manifest.engine;
  const beside = servingPack(packs, trial.packsDir, isAnalyzer ? engine : 'analyzer').dir;
  const { provider, passedOver } = await checkedPack(dir, child).catch((error: unknown) => {
    throw new Error(`not tried: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });

  const folder = await mkdtemp(path.join(tmpdir(), 'try-pack-'));
  try {
    const packsDir = path.join(folder, 'packs');
    // A worker stays on the provider on which the probes ran; others might load the graphs and compute nonsense.
    const manifest = { ...pack.manifest, providers: [provider] };
    await isolatePack(packsDir, { pack, manifest, beside });
    const files = { ...(await clipOf(ffmpeg, folder, trial)), outputPath: path.join(folder, 'output.mp4') };
    const rendered = await renderOnce({ ...child, packsDir }, engine, files);
    await mkdir(path.dirname(trial.outputFile), { recursive: true });
    await copyFile(files.outputPath, trial.outputFile);
    return {
      pack: packVersion(pack),
      engine,
      provider,
      ...(passedOver === undefined ? {} : { passed_over: passedOver.join('; ') }),
      output: trial.outputFile,
      ...figuresOf(rendered),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface ClipFiles {
  readonly videoPath: string;
  readonly audioPath: string;
}

async function clipOf(ffmpeg: string, folder: string, { videoFile, audioFile }: Trial): Promise<ClipFiles> {
  if (videoFile !== undefined && audioFile !== undefined)
    return { videoPath: path.resolve(videoFile), audioPath: path.resolve(audioFile) };
  const drawn = await makeClip(ffmpeg, folder, CLIP);
  return {
    videoPath: path.resolve(videoFile ?? drawn.videoFile),
    audioPath: path.resolve(audioFile ?? drawn.audioFile),
  };
}

async function renderOnce(
  options: { packsDir: string; entry?: string },
  engine: Engine,
  files: ClipFiles & { outputPath: string },
): Promise<RenderResult> {
  const inference = await startInference(options);
  try {
    return await inference.render({ engine, ...files, syncMode: 'cut_off' });
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    throw new Error(`not rendered: ${line}`, { cause: error });
  } finally {
    inference.close();
  }
}

function figuresOf({ renderedFrames, gpuInferenceMs, timings, quality }: RenderResult): Row {
  // The graphs are loaded before anything else begins.
  const renderMs = timings.totalMs - timings.loadMs;
  const perSecond = (ms: number): number => rounded((renderedFrames * 1000) / ms, 2);
  return {
    rendered_frames: renderedFrames,
    load_seconds: rounded(timings.loadMs / 1000, 2),
    render_seconds: rounded(renderMs / 1000, 2),
    render_fps: perSecond(renderMs),
    inference_fps: perSecond(timings.inferMs),
    gpu_seconds: rounded(gpuInferenceMs === null ? null : gpuInferenceMs / 1000, 2),
    peak_rss_mib: rounded(timings.peakRssBytes / 2 ** 20, 0),
    faceless_share: rounded(quality.facelessShare, 3),
    enlarged_share: rounded(quality.enlargedShare, 3),
    sync_correlation: rounded(quality.syncCorrelation, 3),
    sync_lag_seconds: rounded(quality.syncLagSeconds, 2),
    seam_levels: rounded(quality.seamLevels, 2),
    skin_psnr_db: rounded(quality.skinPsnrDb, 1),
    sampled_frames: quality.sampledFrames,
    quality_problem: quality.problem,
  };
}

function rounded<T extends number | null>(value: T, digits: number): T | number {
  return value === null ? value : Number(value.toFixed(digits));
}

/**
 * Makes a folder of packs at `folder` with only this pack, and one `beside` it, so that an engine and a face analyzer
 * are there: links to the pack's files, which may be gigabytes, with a manifest for the same files. Returns the pack's
 * path in it.
 */
export async function isolatePack(
  folder: string,
  { pack, manifest, beside }: { pack: Pack; manifest: Manifest; beside: string },
): Promise<string> {
  const dir = path.join(folder, 'pack');
  await mkdir(dir, { recursive: true });
  await writeFile(path.join(dir, MANIFEST_FILE), JSON.stringify(manifest));
  for (const file of packFiles(manifest)) await symlink(path.resolve(pack.dir, file), path.join(dir, file));
  await symlink(path.resolve(beside), path.join(folder, 'beside'));
  return dir;
}

/** The folder of the pack in use for an engine, or of the face analyzer. Throws when there is none. */
export function servingPack(packs: readonly PackFolder[], packsDir: string, engine: PackEngine): PackFolder {
  const serving = packs.find(({ pack, behind }) => pack.manifest.engine === engine && !behind);
  const wanted = engine === 'analyzer' ? 'face analyzer' : `pack of ${engine}`;
  if (serving === undefined) throw new Error(`${packsDir} holds no ${wanted} that can be used`);
  return serving;
}
