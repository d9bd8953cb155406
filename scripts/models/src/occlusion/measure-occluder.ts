import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type Timeline, timelineOf } from '@lipsync/domain';
import { decodeFaceTrack } from '@lipsync/engines';
import { type Inference } from '@lipsync/gpu-worker';
import { quantile, SAMPLE_AUDIO } from '@lipsync/local-stack';
import {
  AUDIO_SAMPLE_RATE,
  type Binaries,
  type FrameReader,
  openClipReader,
  openFrameSource,
  probe,
  readAudio,
} from '@lipsync/media';
import { lipsOf, mouthBox } from '../articulation/pictures';
import { plainTranscode } from '../outside-face';
import { compose, type FaceClip } from './compose';
import {
  addedStep,
  changedBlocks,
  freeFrames,
  keptPixels,
  type Luma,
  type Share,
  shownIn,
  type Versions,
  withheldPart,
} from './figures';
import { type Occluder } from './occluders';

export interface Workplace {
  readonly binaries: Binaries;
  readonly inference: Inference;
  readonly folder: string;
}

/** A face without anything before it, as every engine renders it. */
export interface CleanFace extends FaceClip {
  readonly name: string;
  /** Mean part of the lower face that is not generated. */
  readonly withheld: number;
  readonly byEngine: ReadonlyMap<Engine, CleanRender>;
}

interface CleanRender {
  /** Per frame, the blocks that the engine changes. */
  readonly changed: readonly Uint8Array[];
  /** The largest steps of what is added to the mouth while it speaks, in levels: one in fifty is larger. */
  readonly step: number;
}

/** What one engine makes of one occluder before one face. */
export interface OccluderFigures {
  readonly face: string;
  readonly occluder: string;
  readonly engine: Engine;
  /** Pixels of the occluder that are kept, in the part that the engine changes otherwise, and elsewhere. */
  readonly kept: Share;
  readonly kept_elsewhere: Share;
  /** How much of the mouth is generated in frames in which it is free. */
  readonly generated: number;
  /** How many of the frames in which the occluder hides a third of the mouth or more show it as filmed. */
  readonly hidden: Share;
  /** The largest step while a mouth fades, over those of speech; null where none does. */
  readonly jump: number | null;
}

const DEADLINE_MS = 900_000;
/** The voice is longer than the clips. */
const SYNC_MODE = 'cut_off';

export async function measureCleanFace(
  workplace: Workplace,
  file: string,
  engines: readonly Engine[],
): Promise<CleanFace> {
  const clip = await analyzed(workplace, file);
  const { track } = clip;
  const parts = Array.from({ length: track.frames }, (_, frame) => withheldPart(track, frame));
  const plain = await plainOf(workplace, clip);
  const byEngine = new Map<Engine, CleanRender>();
  for (const engine of engines) {
    const changed: Uint8Array[] = [];
    const steps: number[] = [];
    let before: Versions | undefined;
    await compare(workplace, clip, plain, await render(workplace, clip, engine), (now, frame) => {
      changed.push(changedBlocks(now));
      if (before && track.found[frame] === 1)
        steps.push(addedStep(before, now, mouthBox(lipsOf(track, frame), now.source), () => true) ?? 0);
      before = now;
    });
    byEngine.set(engine, {
      changed: changed.map((_, frame) => around(changed, frame)),
      step: quantile(steps, 0.98),
    });
  }
  const withheld = parts.reduce((sum, part) => sum + part, 0) / parts.length;
  return { ...clip, name: path.parse(file).name, withheld, byEngine };
}

/** Frames before and after one in which an engine may change a block that it happens to leave alone in this one. */
const NEIGHBORS = 3;

function around(changed: readonly Uint8Array[], frame: number): Uint8Array {
  const near = changed.slice(Math.max(0, frame - NEIGHBORS), frame + NEIGHBORS + 1);
  return Uint8Array.from(changed[frame] ?? [], (_, block) =>
    near.some((blocks) => blocks[block] === 1) ? 1 : 0,
  );
}

export async function measureOccluder(
  workplace: Workplace,
  face: CleanFace,
  occluder: Occluder,
): Promise<OccluderFigures[]> {
  const file = path.join(workplace.folder, `${face.name}-${occluder.name.replaceAll(' ', '-')}.mp4`);
  const alphas = await compose(workplace.binaries, face, occluder, file);
  const clip = await analyzed(workplace, file);
  const plain = await plainOf(workplace, clip);
  const parts = alphas.map((alpha, frame) => coveredPart(face, alpha, frame));
  const shown = alphas.map((_, frame) => shownIn(clip.track, frame));
  const isFree = freeFrames(
    face.track,
    parts.map((part) => part > 0),
  );
  const free = shown.filter((_, frame) => isFree[frame] && face.track.found[frame] === 1);
  const covered = shown.filter((_, frame) => (parts[frame] ?? 0) >= 1 / 3);
  const figures: OccluderFigures[] = [];
  for (const [engine, clean] of face.byEngine) {
    const kept = { inside: { done: 0, cases: 0 }, outside: { done: 0, cases: 0 } };
    const jumps: number[] = [];
    let before: Versions | undefined;
    await compare(workplace, clip, plain, await render(workplace, clip, engine), (now, frame) => {
      const alpha = alphas[frame] ?? new Uint8Array();
      const counted = keptPixels(now, alpha, clean.changed[frame] ?? new Uint8Array());
      for (const place of ['inside', 'outside'] as const) {
        kept[place].done += counted[place].done;
        kept[place].cases += counted[place].cases;
      }
      if (before && shown[frame] !== shown[frame - 1] && face.track.found[frame] === 1) {
        const earlier = alphas[frame - 1] ?? alpha;
        const box = mouthBox(lipsOf(face.track, frame), now.source);
        const step = addedStep(before, now, box, (at) => alpha[at] === 0 && earlier[at] === 0);
        if (step !== null) jumps.push(step / clean.step);
      }
      before = now;
    });
    figures.push({
      face: face.name,
      occluder: occluder.name,
      engine,
      kept: kept.inside,
      kept_elsewhere: kept.outside,
      generated: free.reduce((sum, part) => sum + part, 0) / Math.max(1, free.length),
      hidden: { done: covered.filter((part) => part === 0).length, cases: covered.length },
      jump: jumps.length === 0 ? null : Math.max(...jumps),
    });
  }
  return figures;
}

/** The part of the mouth's box that an occluder covers. */
function coveredPart({ track }: FaceClip, alpha: Uint8Array, frame: number): number {
  if (track.found[frame] !== 1) return 0;
  const { x1, y1, x2, y2 } = mouthBox(lipsOf(track, frame), track);
  let covered = 0;
  for (let y = y1; y < y2; y++)
    for (let x = x1; x < x2; x++) if ((alpha[y * track.width + x] ?? 0) > 25) covered++;
  return covered / ((x2 - x1) * (y2 - y1));
}

async function analyzed({ binaries, inference }: Workplace, file: string): Promise<FaceClip> {
  const { video } = await probe(binaries, file, { mediaType: 'video', deadlineMs: DEADLINE_MS });
  if (video === undefined) throw new Error(`${file} has no video`);
  const trackPath = `${file}.track`;
  await inference.analyze({ videoPath: file, trackPath });
  return { file, video, track: decodeFaceTrack(await readFile(trackPath)) };
}

async function timelineFor(binaries: Binaries, { track }: FaceClip): Promise<Timeline> {
  const pcm = await readAudio(binaries, SAMPLE_AUDIO, { deadlineMs: DEADLINE_MS });
  return timelineOf(SYNC_MODE, track.clock, pcm.length / AUDIO_SAMPLE_RATE);
}

/** The clip through the service's encoder, untouched. */
async function plainOf({ binaries }: Workplace, clip: FaceClip): Promise<string> {
  const { audio } = await probe(binaries, SAMPLE_AUDIO, { mediaType: 'audio', deadlineMs: DEADLINE_MS });
  if (audio === undefined) throw new Error(`${SAMPLE_AUDIO} has no sound`);
  const outFile = `${clip.file}.plain.mp4`;
  const timeline = await timelineFor(binaries, clip);
  const { clock, held } = clip.track;
  const request = { videoFile: clip.file, video: clip.video, audioFile: SAMPLE_AUDIO, audio, timeline };
  await plainTranscode(binaries, { ...request, frames: { clock, held }, outFile }, DEADLINE_MS);
  return outFile;
}

async function render({ inference }: Workplace, clip: FaceClip, engine: Engine): Promise<string> {
  const outputPath = `${clip.file.slice(0, -path.extname(clip.file).length)}-${engine}.mp4`;
  await inference.render({
    ...{ engine, outputPath, videoPath: clip.file, audioPath: SAMPLE_AUDIO },
    ...{ syncMode: SYNC_MODE, faceTrackPath: `${clip.file}.track` },
  });
  return outputPath;
}

/** Goes through the frames of all versions of a clip. */
async function compare(
  { binaries }: Workplace,
  clip: FaceClip,
  plainFile: string,
  renderedFile: string,
  look: (versions: Versions, frame: number) => void,
): Promise<void> {
  const { sources } = await timelineFor(binaries, clip);
  const { clock, held } = clip.track;
  const limits = { deadlineMs: DEADLINE_MS };
  const open = (file: string) =>
    openClipReader(binaries, file, clip.video, { layout: { format: 'yuv420p' }, ...limits });
  const readers = {
    source: openFrameSource(binaries, clip.file, clip.video, sources, {
      clock,
      held,
      format: 'yuv420p',
      ...limits,
    }),
    plain: open(plainFile),
    rendered: open(renderedFile),
  };
  const next = async (reader: FrameReader): Promise<Luma> => {
    const { width, height, frameBytes } = reader;
    const data = new Uint8Array(frameBytes);
    if (!(await reader.readInto(data))) throw new Error('a video has fewer frames than its timeline');
    return { width, height, data };
  };
  try {
    for (const frame of sources.keys()) {
      const [source, plain, rendered] = await Promise.all([
        next(readers.source),
        next(readers.plain),
        next(readers.rendered),
      ]);
      look({ source, plain, rendered }, frame);
    }
  } finally {
    await Promise.all(Object.values(readers).map((reader) => reader.close()));
  }
}
