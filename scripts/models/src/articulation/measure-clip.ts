import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { timelineOf } from '@lipsync/domain';
import { mean } from '@lipsync/local-stack';
import { AUDIO_SAMPLE_RATE, readAudio } from '@lipsync/media';
import { type AnalyzedVideo, DEADLINE_MS, type Workplace } from '../workplace';
import { comparePictures, type PictureFigures } from './compare-pictures';
import {
  closures,
  type Count,
  dentals,
  falseClosures,
  falseDentals,
  found,
  leadOf,
  meanDuring,
  openings,
  scaleOf,
  silent,
  speaking,
  type SpokenClip,
  touches,
  type Vowel,
  vowelsOf,
} from './figures';
import { mouthShapes, timed } from './mouth-readings';
import { firstAxisShare, openingSpeed, ownAmplitude, widthRange } from './movement';
import { type Sound } from './speech';

export interface Voice {
  readonly name: string;
  readonly file: string;
  readonly sounds: readonly Sound[];
}

/** What one render shows; lengths in eye distances, speeds in those per second. */
export interface ClipFigures extends PictureFigures {
  readonly engine: Engine;
  readonly face: string;
  readonly voice: string;
  /** In eye distances. */
  readonly closed_reading: number;
  readonly open_reading: number;
  readonly closures: Count;
  readonly lips_touch: Count;
  readonly false_closures: Count;
  readonly dentals: Count;
  readonly false_dentals: Count;
  /** How many sounds the next five figures stand on. */
  readonly vowels: Readonly<Record<Vowel, number>>;
  readonly width_i: number;
  readonly width_u: number;
  /** By the color of the lips; null where they have too little in most frames. */
  readonly lip_width_i_over_u: number | null;
  readonly opening_i: number;
  readonly opening_a: number;
  /** How far the mouth is ahead of the sound. */
  readonly lead_ms: number | null;
  readonly first_axis_share: number;
  readonly width_range: number;
  readonly opening_speed: number;
  /** The opening over the source's own, where the source talks. */
  readonly amplitude: number | null;
  /** The mean opening in silence above the closed reading, and how fast it moves then; and the source's. */
  readonly silent_opening: number;
  readonly silent_speed: number;
  readonly source_silent_speed: number;
}

/** Renders one voice on one face with one engine, and reads the mouth back. */
export async function measureClip(
  { binaries, inference, folder, analyze }: Workplace,
  engine: Engine,
  face: AnalyzedVideo,
  voice: Voice,
): Promise<ClipFigures> {
  const name = path.parse(face.file).name;
  const outputPath = path.join(folder, `${name}-${voice.name}-${engine}.mp4`);
  // Back and forth, so that the source never jumps.
  const syncMode = 'bounce';
  await inference.render({
    ...{ engine, syncMode, outputPath, videoPath: face.file },
    ...{ audioPath: voice.file, faceTrackPath: face.trackPath },
  });
  const rendered = await analyze(outputPath);
  const pcm = await readAudio(binaries, voice.file, { deadlineMs: DEADLINE_MS });
  const { sources, clock } = timelineOf(syncMode, face.track.clock, pcm.length / AUDIO_SAMPLE_RATE);
  const [ourShapes, theirShapes] = [mouthShapes(rendered.track), mouthShapes(face.track)];
  const mouth = timed(ourShapes, clock);
  const shown = timed(
    sources.map((source) => theirShapes[source] ?? null),
    clock,
  );
  const clip: SpokenClip = { sounds: voice.sounds, mouth, source: shown };
  const scale = scaleOf(clip);
  const spoken = speaking(clip.mouth, clip.sounds);
  const quiet = silent(clip.mouth, clip.sounds);
  const own = ownAmplitude(clip.source);
  const lead = leadOf(clip);
  const { figures, byColor } = await comparePictures(
    binaries,
    { rendered: { ...rendered, mouth }, source: { ...face, mouth: shown } },
    sources,
    scale.closedUpTo,
  );
  return {
    ...{ engine, face: name, voice: voice.name, closed_reading: scale.closed, open_reading: scale.open },
    closures: closures(clip, scale),
    lips_touch: touches(clip, byColor.contacts),
    false_closures: falseClosures(clip, scale),
    dentals: dentals(clip, scale),
    false_dentals: falseDentals(clip, scale),
    vowels: vowelsOf(clip),
    width_i: meanDuring(clip, 'i', ({ width }) => width),
    width_u: meanDuring(clip, 'u', ({ width }) => width),
    lip_width_i_over_u: lipWidthRatio(clip, byColor.widths),
    opening_i: meanDuring(clip, 'i', ({ opening }) => opening),
    opening_a: meanDuring(clip, 'a', ({ opening }) => opening),
    lead_ms: lead === null ? null : 1000 * lead,
    first_axis_share: firstAxisShare(spoken),
    width_range: widthRange(spoken),
    opening_speed: openingSpeed(spoken),
    amplitude: own === null ? null : scale.open / own,
    silent_opening: mean(openings(quiet)) - scale.closed,
    silent_speed: openingSpeed(quiet),
    source_silent_speed: openingSpeed(silent(clip.source, clip.sounds)),
    ...figures,
  };
}

/** How much wider lips are at i than at u, by their color. */
function lipWidthRatio(clip: SpokenClip, widths: readonly (number | null)[]): number | null {
  const mouth = clip.mouth.map((reading, i) => {
    const width = widths[i] ?? null;
    return reading && width !== null ? { ...reading, width } : null;
  });
  if (found(mouth).length < found(clip.mouth).length / 2) return null;
  const seen = { ...clip, mouth };
  return meanDuring(seen, 'i', ({ width }) => width) / meanDuring(seen, 'u', ({ width }) => width);
}
