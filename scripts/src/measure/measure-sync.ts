import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SyncMode } from '@lipsync/contract';
import { audioPlan, outputFrameCount, sourceFrameIndex, WORKING_FPS } from '@lipsync/domain';
import { startInference, type Inference } from '@lipsync/gpu-worker';
import { decodeFaceTrack, faceBox, LANDMARK_VALUES, type FaceTrack } from '@lipsync/lipsync';
import {
  AUDIO_SAMPLE_RATE,
  openFrameReader,
  probe,
  readAudio,
  type Binaries,
  type ProbedVideo,
} from '@lipsync/media';
import { followsVoice, mouthOpenings, type FollowsVoice } from './mouth-movement';
import { createPictureDifference, type Box } from './picture-difference';
import { plainTranscode } from './plain-transcode';
import { speechEnvelope } from './speech-envelope';

export interface MeasureRequest {
  /** The rendered video. */
  videoFile: string;
  /** The voice that it should speak. */
  audioFile: string;
  /** What it was made from; with it the picture outside the face and the duration are measured too. */
  source?: { videoFile: string; syncMode: SyncMode };
  packsDir: string;
}

export interface SyncMeasurement {
  rendered: FollowsVoice;
  /** The source's own mouth against the same voice, over the same timeline. */
  source?: FollowsVoice;
  outside_face?: { psnr_db: number; largest_difference: number };
  duration?: { expected_seconds: number; actual_seconds: number; within_one_frame: boolean };
}

const DEADLINE_MS = 900_000;
/** Generated pixels end inside the crop; encoders spread a change over whole macroblocks and their neighbours. */
const BOX_MARGIN_PIXELS = 32;

/** Measures on the pictures alone what a render promises. Needs no database, queue or store. */
export async function measureSync(binaries: Binaries, request: MeasureRequest): Promise<SyncMeasurement> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'measure-'));
  const inference = await startInference({ packsDir: request.packsDir });
  try {
    const analyse = (videoFile: string, name: string) =>
      analyseFile(inference, videoFile, path.join(scratch, name));
    const rendered = await analyse(request.videoFile, 'rendered.track');
    const pcm = await readAudio(binaries, request.audioFile, { deadlineMs: DEADLINE_MS });
    const envelope = speechEnvelope(pcm, {
      sampleRate: AUDIO_SAMPLE_RATE,
      fps: WORKING_FPS,
      frames: rendered.frames,
    });
    const measurement: SyncMeasurement = { rendered: followsVoice(envelope, mouthOpenings(rendered)) };
    if (request.source === undefined) return measurement;

    const { videoFile, syncMode } = request.source;
    const source = await analyse(videoFile, 'source.track');
    const lengths = { videoFrames: source.frames, audioSeconds: pcm.length / AUDIO_SAMPLE_RATE };
    const outputFrames = outputFrameCount(syncMode, lengths.videoFrames, lengths.audioSeconds);
    const indices = Array.from({ length: outputFrames }, (_, i) =>
      sourceFrameIndex(syncMode, i, { videoFrames: lengths.videoFrames, outputFrames }),
    );
    const sourceOpenings = mouthOpenings(source);
    const [sourceProbe, audioProbe, renderedProbe] = await Promise.all([
      probe(binaries, videoFile, { mediaType: 'video', deadlineMs: DEADLINE_MS }),
      probe(binaries, request.audioFile, { mediaType: 'audio', deadlineMs: DEADLINE_MS }),
      probe(binaries, request.videoFile, { mediaType: 'video', deadlineMs: DEADLINE_MS }),
    ]);
    if (
      sourceProbe.video === undefined ||
      renderedProbe.video === undefined ||
      audioProbe.audio === undefined
    )
      throw new Error('a file lacks the stream it is named for');
    const plainFile = path.join(scratch, 'plain.mp4');
    await plainTranscode(
      binaries,
      {
        videoFile,
        video: sourceProbe.video,
        audioFile: request.audioFile,
        audio: audioProbe.audio,
        indices,
        audioPlan: audioPlan(syncMode, lengths),
        outFile: plainFile,
      },
      DEADLINE_MS,
    );
    return {
      ...measurement,
      source: followsVoice(
        envelope,
        indices.map((index) => sourceOpenings[index] ?? null),
      ),
      outside_face: await compareOutsideFace(binaries, {
        renderedFile: request.videoFile,
        rendered: renderedProbe.video,
        plainFile,
        boxes: indices.map((index) => paddedFaceBox(source, index)),
      }),
      duration: duration(outputFrames / WORKING_FPS, renderedProbe.video.durationSeconds),
    };
  } finally {
    inference.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function analyseFile(inference: Inference, videoFile: string, outPath: string): Promise<FaceTrack> {
  await inference.analyze(path.resolve(videoFile), outPath);
  return decodeFaceTrack(await readFile(outPath));
}

async function compareOutsideFace(
  binaries: Binaries,
  files: { renderedFile: string; rendered: ProbedVideo; plainFile: string; boxes: readonly (Box | null)[] },
): Promise<{ psnr_db: number; largest_difference: number }> {
  const open = (file: string) =>
    openFrameReader(binaries, path.resolve(file), files.rendered, {
      layout: { format: 'yuv420p' },
      deadlineMs: DEADLINE_MS,
    });
  const readers = [open(files.renderedFile), open(files.plainFile)] as const;
  const difference = createPictureDifference(readers[0]);
  const frames = readers.map(({ frameBytes }) => new Uint8Array(frameBytes)) as [Uint8Array, Uint8Array];
  try {
    for (const box of files.boxes) {
      const [gotRendered, gotPlain] = await Promise.all([
        readers[0].readInto(frames[0]),
        readers[1].readInto(frames[1]),
      ]);
      if (!gotRendered || !gotPlain) break;
      difference.add(frames[0], frames[1], box);
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.close()));
  }
  const { psnrDb, largestDifference } = difference.result();
  return { psnr_db: psnrDb, largest_difference: largestDifference };
}

function paddedFaceBox(track: FaceTrack, frame: number): Box | null {
  if (track.found[frame] !== 1) return null;
  const box = faceBox(
    track.landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES),
    track,
  );
  return (
    box && {
      x1: box.x1 - BOX_MARGIN_PIXELS,
      y1: box.y1 - BOX_MARGIN_PIXELS,
      x2: box.x2 + BOX_MARGIN_PIXELS,
      y2: box.y2 + BOX_MARGIN_PIXELS,
    }
  );
}

function duration(expected: number, actual: number) {
  const tolerance = 1 / WORKING_FPS + 1e-3;
  return {
    expected_seconds: expected,
    actual_seconds: actual,
    within_one_frame: Math.abs(actual - expected) <= tolerance,
  };
}
