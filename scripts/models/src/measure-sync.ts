import path from 'node:path';
import { SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { type Clock, endOf, timelineOf, usualRate } from '@lipsync/domain';
import {
  type FollowsVoice,
  followsVoice,
  mouthOpenings,
  recordingOf,
  shownFrames,
  speechEnvelope,
} from '@lipsync/engines';
import { PACKS_DIR, runProgram } from '@lipsync/local-stack';
import { AUDIO_SAMPLE_RATE, probe, readAudio } from '@lipsync/media';
import { Command, Option } from 'commander';
import { compareOutsideFace, type OutsideFace, paddedFaceBoxes, plainTranscode } from './outside-face';
import { DEADLINE_MS, withWorkplace, type Workplace } from './workplace';

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
    const measured = await withWorkplace({ packsDir: PACKS_DIR }, (place) => measureSync(place, options));
    console.log(JSON.stringify(measured, null, 2));
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

/** Measures, from the files alone, what a render promises. Needs no database, queue or store. */
async function measureSync(place: Workplace, options: Options): Promise<SyncMeasurement> {
  const { binaries, folder, analyze } = place;
  const audioFile = path.resolve(options.audio);
  const rendered = await analyze(path.resolve(options.video));
  const pcm = await readAudio(binaries, audioFile, { deadlineMs: DEADLINE_MS });
  const shown = shownFrames(rendered.track.clock);
  const envelope = speechEnvelope(recordingOf(pcm), shown.length);
  const follows = (openings: readonly (number | null)[]): FollowsVoice =>
    followsVoice(
      envelope,
      shown.map((frame) => openings[frame] ?? null),
      MAX_LAG_SECONDS,
    );
  const measurement: SyncMeasurement = { rendered: follows(mouthOpenings(rendered.track)) };
  if (options.source === undefined) return measurement;

  const source = await analyze(path.resolve(options.source));
  const openings = mouthOpenings(source.track);
  const timeline = timelineOf(options.syncMode, source.track.clock, pcm.length / AUDIO_SAMPLE_RATE);
  const { audio } = await probe(binaries, audioFile, { mediaType: 'audio', deadlineMs: DEADLINE_MS });
  if (audio === undefined) throw new Error(`${audioFile} has no audio`);
  const plainFile = path.join(folder, 'plain.mp4');
  const { file: videoFile, video, track } = source;
  const frames = { clock: track.clock, held: track.held };
  const transcode = { videoFile, video, audioFile, audio, timeline, frames, outFile: plainFile };
  await plainTranscode(binaries, transcode, DEADLINE_MS);
  const boxes = timeline.sources.map(paddedFaceBoxes(track));
  return {
    ...measurement,
    source: follows(timeline.sources.map((frame) => openings[frame] ?? null)),
    outside_face: await compareOutsideFace(binaries, rendered, plainFile, boxes),
    duration: durationOf(timeline.clock, rendered.video.durationSeconds),
  };
}

function durationOf(clock: Clock, actual: number): NonNullable<SyncMeasurement['duration']> {
  const expected = endOf(clock);
  return {
    expected_seconds: expected,
    actual_seconds: actual,
    within_one_frame: Math.abs(actual - expected) <= 1 / usualRate(clock) + 1e-3,
  };
}

runProgram(program);
