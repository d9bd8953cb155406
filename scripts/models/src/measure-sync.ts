import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { audioPlan, outputFrameCount, sourceFrameIndex, WORKING_FPS } from '@lipsync/domain';
import {
  decodeFaceTrack,
  type FaceTrack,
  type FollowsVoice,
  followsVoice,
  mouthOpenings,
  recordingOf,
  speechEnvelope,
} from '@lipsync/engines';
import { startInference } from '@lipsync/gpu-worker';
import { PACKS_DIR } from '@lipsync/local-stack';
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
  video: string;
  audio: string;
  source?: string;
  syncMode: SyncMode;
}

/** `npm run measure:sync`: prints one JSON object. */
const program = new Command('measure:sync')
  .description('Does the mouth follow the voice, is the rest of the picture unharmed, is the duration right?')
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
const MAX_LAG_FRAMES = 12;

const DEADLINE_MS = 900_000;

/**
 * Measures, from the files alone, what a render promises; with its source also the picture outside the face and the
 * duration. Needs no database, queue or store.
 */
async function measureSync(
  binaries: Binaries,
  { video, audio, source, syncMode }: Options,
): Promise<SyncMeasurement> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'measure-'));
  const inference = await startInference({ packsDir: PACKS_DIR });
  const trackOf = async (file: string): Promise<FaceTrack> => {
    const trackPath = path.join(scratch, 'face.track');
    await inference.analyze({ videoPath: path.resolve(file), trackPath });
    return decodeFaceTrack(await readFile(trackPath));
  };
  try {
    const track = await trackOf(video);
    const pcm = await readAudio(binaries, path.resolve(audio), { deadlineMs: DEADLINE_MS });
    const window = { sampleRate: AUDIO_SAMPLE_RATE, fps: WORKING_FPS, frames: track.frames };
    const envelope = speechEnvelope(recordingOf(pcm), window);
    const rendered = followsVoice(envelope, mouthOpenings(track), MAX_LAG_FRAMES);
    if (source === undefined) return { rendered };

    const sourceTrack = await trackOf(source);
    const openings = mouthOpenings(sourceTrack);
    const { frames: videoFrames } = sourceTrack;
    const audioSeconds = pcm.length / AUDIO_SAMPLE_RATE;
    const outputFrames = outputFrameCount(syncMode, videoFrames, audioSeconds);
    const indices = Array.from({ length: outputFrames }, (_, i) =>
      sourceFrameIndex(syncMode, i, { videoFrames, outputFrames }),
    );
    const plainFile = path.join(scratch, 'plain.mp4');
    const plain = {
      videoFile: path.resolve(source),
      video: await probeVideo(binaries, source),
      audioFile: path.resolve(audio),
      audio: await probeAudio(binaries, audio),
      indices,
      audioPlan: audioPlan(syncMode, { videoFrames, audioSeconds }),
      outFile: plainFile,
    };
    await plainTranscode(binaries, plain, DEADLINE_MS);
    const renderedVideo = await probeVideo(binaries, video);
    const boxes = indices.map(paddedFaceBoxes(sourceTrack));
    const compared = { renderedFile: video, plainFile, video: renderedVideo, boxes };
    return {
      rendered,
      source: followsVoice(
        envelope,
        indices.map((index) => openings[index] ?? null),
        MAX_LAG_FRAMES,
      ),
      outside_face: await compareOutsideFace(binaries, compared, DEADLINE_MS),
      duration: durationOf(outputFrames / WORKING_FPS, renderedVideo.durationSeconds),
    };
  } finally {
    inference.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

function durationOf(expected: number, actual: number): NonNullable<SyncMeasurement['duration']> {
  const tolerance = 1 / WORKING_FPS + 1e-3;
  return {
    expected_seconds: expected,
    actual_seconds: actual,
    within_one_frame: Math.abs(actual - expected) <= tolerance,
  };
}

async function probeVideo(binaries: Binaries, file: string): Promise<ProbedVideo> {
  const { video } = await probe(binaries, path.resolve(file), {
    mediaType: 'video',
    deadlineMs: DEADLINE_MS,
  });
  if (video === undefined) throw new Error(`${file} has no video`);
  return video;
}

async function probeAudio(binaries: Binaries, file: string): Promise<ProbedAudio> {
  const { audio } = await probe(binaries, path.resolve(file), {
    mediaType: 'audio',
    deadlineMs: DEADLINE_MS,
  });
  if (audio === undefined) throw new Error(`${file} has no audio`);
  return audio;
}

program.parseAsync().catch((error: unknown) => {
  console.error(`measure:sync: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
