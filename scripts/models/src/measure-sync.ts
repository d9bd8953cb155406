import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { type AudioPlan, audioPlan, outputFrameCount, sourceFrameIndex, WORKING_FPS } from '@lipsync/domain';
import {
  decodeFaceTrack,
  type FaceTrack,
  type FollowsVoice,
  followsVoice,
  mouthOpenings,
  recordingOf,
  speechEnvelope,
} from '@lipsync/engines';
import { type Inference, startInference } from '@lipsync/gpu-worker';
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
  .action(async ({ video, audio, source, syncMode }: Options) => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    const measurement = await measureSync(await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH }), {
      videoFile: path.resolve(video),
      audioFile: path.resolve(audio),
      ...(source === undefined ? {} : { source: { videoFile: path.resolve(source), syncMode } }),
      packsDir: PACKS_DIR,
    });
    console.log(JSON.stringify(measurement, null, 2));
  });

interface MeasureRequest {
  /** The rendered video. */
  videoFile: string;
  /** The voice that its mouth should follow. */
  audioFile: string;
  /** The source of the render; with it the picture outside the face and the duration are measured too. */
  source?: { videoFile: string; syncMode: SyncMode };
  packsDir: string;
}

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

/** Measures, from the files alone, what a render promises. Needs no database, queue or store. */
async function measureSync(binaries: Binaries, request: MeasureRequest): Promise<SyncMeasurement> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'measure-'));
  const inference = await startInference({ packsDir: request.packsDir });
  try {
    const rendered = await faceTrackOf(inference, request.videoFile, path.join(scratch, 'rendered.track'));
    const pcm = await readAudio(binaries, path.resolve(request.audioFile), { deadlineMs: DEADLINE_MS });
    const window = { sampleRate: AUDIO_SAMPLE_RATE, fps: WORKING_FPS, frames: rendered.frames };
    const envelope = speechEnvelope(recordingOf(pcm), window);
    const measurement: SyncMeasurement = {
      rendered: followsVoice(envelope, mouthOpenings(rendered), MAX_LAG_FRAMES),
    };
    if (request.source === undefined) return measurement;

    const source = await faceTrackOf(inference, request.source.videoFile, path.join(scratch, 'source.track'));
    const openings = mouthOpenings(source);
    const timeline = timelineOf(request.source.syncMode, source.frames, pcm.length / AUDIO_SAMPLE_RATE);
    const comparison = { ...request, sourceFile: request.source.videoFile, source, timeline };
    return {
      ...measurement,
      source: followsVoice(
        envelope,
        timeline.indices.map((index) => openings[index] ?? null),
        MAX_LAG_FRAMES,
      ),
      ...(await compareWithPlain(binaries, comparison, path.join(scratch, 'plain.mp4'))),
    };
  } finally {
    inference.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function faceTrackOf(inference: Inference, videoFile: string, trackPath: string): Promise<FaceTrack> {
  await inference.analyze({ videoPath: path.resolve(videoFile), trackPath });
  return decodeFaceTrack(await readFile(trackPath));
}

interface Timeline {
  /** Source frame of every output frame. */
  indices: number[];
  audioPlan: AudioPlan;
}

function timelineOf(mode: SyncMode, videoFrames: number, audioSeconds: number): Timeline {
  const outputFrames = outputFrameCount(mode, videoFrames, audioSeconds);
  return {
    indices: Array.from({ length: outputFrames }, (_, i) =>
      sourceFrameIndex(mode, i, { videoFrames, outputFrames }),
    ),
    audioPlan: audioPlan(mode, { videoFrames, audioSeconds }),
  };
}

async function compareWithPlain(
  binaries: Binaries,
  files: { videoFile: string; audioFile: string; sourceFile: string; source: FaceTrack; timeline: Timeline },
  plainFile: string,
): Promise<Required<Pick<SyncMeasurement, 'outside_face' | 'duration'>>> {
  const { timeline, source } = files;
  const rendered = await probeVideo(binaries, files.videoFile);
  const transcode = {
    videoFile: path.resolve(files.sourceFile),
    video: await probeVideo(binaries, files.sourceFile),
    audioFile: path.resolve(files.audioFile),
    audio: await probeAudio(binaries, files.audioFile),
    ...timeline,
    outFile: plainFile,
  };
  await plainTranscode(binaries, transcode, DEADLINE_MS);
  const boxes = timeline.indices.map(paddedFaceBoxes(source));
  const compared = { renderedFile: files.videoFile, plainFile, video: rendered, boxes };
  return {
    outside_face: await compareOutsideFace(binaries, compared, DEADLINE_MS),
    duration: durationOf(timeline.indices.length / WORKING_FPS, rendered.durationSeconds),
  };
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

runProgram(program);
