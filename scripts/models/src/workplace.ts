import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeFaceTrack, type FaceTrack } from '@lipsync/engines';
import { type Inference, startInference } from '@lipsync/gpu-worker';
import { type Binaries, probe, type ProbedVideo, resolveBinaries } from '@lipsync/media';

/** What a command that renders and looks at the result works with. */
export interface Workplace {
  readonly binaries: Binaries;
  readonly inference: Inference;
  /** For videos that somebody may want to keep. */
  readonly folder: string;
  /** Analyzes a video; its face track is gone with the workplace. */
  readonly analyze: (file: string) => Promise<AnalyzedVideo>;
}

/** A video, and what the face analyzer sees in it. */
export interface AnalyzedVideo {
  readonly file: string;
  readonly video: ProbedVideo;
  readonly track: FaceTrack;
  /** Where the track is, for renders of the video. */
  readonly trackPath: string;
  readonly analyzeMs: number;
}

/** For ffmpeg and one video. */
export const DEADLINE_MS = 900_000;

interface WorkplaceOptions {
  readonly packsDir: string;
  /** The folder to keep videos in; without one they are deleted at the end. */
  readonly keep?: string | undefined;
  /** The compiled inference child. */
  readonly entry?: string;
}

/** Sets up a workplace, and clears it away when the work has ended or failed. */
export async function withWorkplace<Result>(
  { keep, ...options }: WorkplaceOptions,
  work: (place: Workplace) => Promise<Result>,
): Promise<Result> {
  const binaries = await resolveBinaries(process.env);
  const scratch = await mkdtemp(path.join(tmpdir(), 'measure-'));
  const inference = await startInference(options);
  const folder = keep === undefined ? scratch : path.resolve(keep);
  let tracks = 0;
  const analyze = async (file: string): Promise<AnalyzedVideo> => {
    const { video } = await probe(binaries, file, { mediaType: 'video', deadlineMs: DEADLINE_MS });
    if (video === undefined) throw new Error(`${file} has no video`);
    const trackPath = path.join(scratch, `${tracks++}.track`);
    const { timings } = await inference.analyze({ videoPath: file, trackPath });
    const track = decodeFaceTrack(await readFile(trackPath));
    return { file, video, track, trackPath, analyzeMs: timings.analyzeMs };
  };
  try {
    await mkdir(folder, { recursive: true });
    return await work({ binaries, inference, folder, analyze });
  } finally {
    inference.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
