import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { type Clock, endOf, timelineOf, usualRate } from '@lipsync/domain';
import {
  decodeFaceTrack,
  type FaceTrack,
  type FollowsVoice,
  followsVoice,
  mouthOpenings,
  recordingOf,
  shownFrames,
  speechEnvelope,
} from '@lipsync/engines';
import { startInference } from '@lipsync/gpu-worker';
import { PACKS_DIR, runProgram } from '@lipsync/local-stack';
import {
  AUDIO_SAMPLE_RATE,
  type Binaries,
  probe,
  type ProbedAudio,
  type ProbedVideo,
  readAudio,
  resolveBinaries,
} from '@lipsync/media';
import { Command, Option } from 'commander';
import { compareOutsideFace, type OutsideFace, paddedFaceBoxes, plainTranscode } from './outside-face';

interface Options {
  /** The rendered video. */
  video: string;
  /** The voice that its mouth should follow. */
  audio: string;
  /** The source of the render; with it the picture outside the face and the duration are measured too. */
  source?: string;
  syncMode: SyncMode;
}

/** `npm run measure:sync`: prints one JSON object. */
const program = new Command('measure:sync')
  .description(
    'Does the mouth move, and when; is the rest of the picture unharmed, is the duration right? The correlation is that ' +
      'of its opening with the loudness: it finds lags and still mouths, but cannot tell speech (−0.1 to 0.5 in nature) ' +
      'from a mouth that merely opens when it is loud. measure:articulation can.',
  )
  .requiredOption('--video <file>', 'the rendered video')
  .requiredOption('--audio <file>', 'the voice that it should speak')
  .option('--source <file>', 'the video that it was made from')
  .addOption(new Option('--sync-mode <mode>', 'as rendered').choices(SYNC_MODES).default('cut_off'))
  .action(async (options: Options) => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    const binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
    console.log(JSON.stringify(await measureSync(binaries, options), null, 2));
  });

export interface SyncMeasurement {
  rendered: FollowsVoice;
  /** The source's own mouth against the same voice, over the same timeline. */
  source?: FollowsVoice;
  outside_face?: OutsideFace;
  duration?: { expected_seconds: number; actual_seconds: number; within_one_frame: boolean };
}

/**
 * A wider range than in the service, so that a late track is found however late; for clips of five seconds and more.
 */
const MAX_LAG_SECONDS = 0.48;

const DEADLINE_MS = 900_000;

/** Measures, from the files alone, what a render promises. Needs no database, queue or store. */
async function measureSync(binaries: Binaries, options: Options): Promise<SyncMeasurement> {
  const videoFile = path.resolve(options.video);
  const audioFile = path.resolve(options.audio);
  const scratch = await mkdtemp(path.join(tmpdir(), 'measure-'));
  const inference = await startInference({ packsDir: PACKS_DIR });
  const faceTrackOf = async (video: string, name: string): Promise<FaceTrack> => {
    const trackPath = path.join(scratch, name);
    await inference.analyze({ videoPath: video, trackPath });
    return decodeFaceTrack(await readFile(trackPath));
  };
  try {
    const rendered = await faceTrackOf(videoFile, 'rendered.track');
    const pcm = await readAudio(binaries, audioFile, { deadlineMs: DEADLINE_MS });
    const shown = shownFrames(rendered.clock);
    const envelope = speechEnvelope(recordingOf(pcm), shown.length);
    const follows = (openings: readonly (number | null)[]): FollowsVoice =>
      followsVoice(
        envelope,
        shown.map((frame) => openings[frame] ?? null),
        MAX_LAG_SECONDS,
      );
    const measurement: SyncMeasurement = { rendered: follows(mouthOpenings(rendered)) };
    if (options.source === undefined) return measurement;

    const sourceFile = path.resolve(options.source);
    const source = await faceTrackOf(sourceFile, 'source.track');
    const openings = mouthOpenings(source);
    const timeline = timelineOf(options.syncMode, source.clock, pcm.length / AUDIO_SAMPLE_RATE);
    const plainFile = path.join(scratch, 'plain.mp4');
    const transcode = {
      videoFile: sourceFile,
      video: await probeVideo(binaries, sourceFile),
      audioFile,
      audio: await probeAudio(binaries, audioFile),
      timeline,
      frames: { clock: source.clock, held: source.held },
      outFile: plainFile,
    };
    await plainTranscode(binaries, transcode, DEADLINE_MS);
    const video = await probeVideo(binaries, videoFile);
    const boxes = timeline.sources.map(paddedFaceBoxes(source));
    return {
      ...measurement,
      source: follows(timeline.sources.map((frame) => openings[frame] ?? null)),
      outside_face: await compareOutsideFace(
        binaries,
        { renderedFile: videoFile, plainFile, video, boxes },
        DEADLINE_MS,
      ),
      duration: durationOf(timeline.clock, video.durationSeconds),
    };
  } finally {
    inference.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

function durationOf(clock: Clock, actual: number): NonNullable<SyncMeasurement['duration']> {
  const expected = endOf(clock);
  return {
    expected_seconds: expected,
    actual_seconds: actual,
    within_one_frame: Math.abs(actual - expected) <= 1 / usualRate(clock) + 1e-3,
  };
}

async function probeVideo(binaries: Binaries, file: string): Promise<ProbedVideo> {
  const { video } = await probe(binaries, file, { mediaType: 'video', deadlineMs: DEADLINE_MS });
  if (video === undefined) throw new Error(`${file} has no video`);
  return video;
}

async function probeAudio(binaries: Binaries, file: string): Promise<ProbedAudio> {
  const { audio } = await probe(binaries, file, { mediaType: 'audio', deadlineMs: DEADLINE_MS });
  if (audio === undefined) throw new Error(`${file} has no audio`);
  return audio;
}

runProgram(program);
