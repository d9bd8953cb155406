import { type Clock, type Rational } from '@lipsync/domain';
import { allEnded, type AnalyzerParams, type FaceTrack, type RunModel } from '@lipsync/engines';
import { type Box, type RgbPicture } from '@lipsync/kernels';
import { buildTrack, LONGEST_GAP, LOOK_EVERY, settledFrames } from './build-track';
import { composeFaces } from './compose-faces';
import { createFaceDetector } from './face-detector';
import { createFaceStream, type FaceStream, type Size } from './face-stream';
import { createFaceTracker, type Looks } from './face-tracker';
import { createHandFinders } from './hand-finder';
import { createLandmarkFinder } from './landmark-finder';
import { type Sound } from './lip-evidence';
import { createCutDetector } from './shot-cuts';
import { TURN_REACH } from './turns';

/** A face analyzer whose graphs are loaded. */
export interface LoadedAnalyzer {
  readonly params: AnalyzerParams;
  /** Recorded in every track that the analyzer makes. */
  readonly version: string;
  readonly run: RunModel;
}

/** A frame of a clip, as the analysis sees it. */
export interface AnalyzedFrame {
  /** Packed RGB, of the same size in all frames (see `analysisSize`). */
  readonly picture: RgbPicture;
  /** When the frame appears, from the clip's first picture on. */
  readonly seconds: number;
  /** Whether the picture is that of the frame before, which stays on screen for long. */
  readonly held: boolean;
}

/** Frames of so many more seconds are read where a shot shows several faces, because they decide who has the turn. */
export const TURN_AHEAD = TURN_REACH + LONGEST_GAP;

interface FaceAnalysis {
  readonly track: FaceTrack;
  /** How many of the first frames have rows that no later frame can affect, however the clip goes on. */
  readonly settledFrames: number;
  /** Whether there are further frames, which were not analyzed. */
  readonly stopped: boolean;
}

/**
 * Finds the face that speaks, or the only one, in every frame of a video; coordinates are in pixels of the source
 * picture. Rejects with what the frames, the graphs, `listen` or `onFrame` threw.
 */
export async function analyzeFaces({
  frames,
  untilSeconds = Infinity,
  clockOf,
  source,
  analyzer,
  listen,
  onFrame,
}: {
  /** A picture is read until the next frame but one is asked for; then its memory may be reused. */
  readonly frames: AsyncIterable<AnalyzedFrame>;
  /** Frames that appear at this second or later are only read where a shot shows several faces. */
  readonly untilSeconds?: number;
  /** The clock of the first `count` frames; called once these have been read. */
  readonly clockOf: (count: number) => Clock;
  /** Size of the source picture. */
  readonly source: Size;
  readonly analyzer: LoadedAnalyzer;
  /** Hears the clip's soundtrack, null without one. Called once, as soon as a shot shows several faces. */
  readonly listen: () => Promise<Sound | null>;
  /** Called after every frame with the number of frames done. Throwing stops the analysis. */
  readonly onFrame?: (framesDone: number) => void;
}): Promise<FaceAnalysis> {
  const { params, run } = analyzer;
  const detector = createFaceDetector(run, params.detector);
  const track = createFaceTracker(detector, createLandmarkFinder(run, params.landmarks), params);
  const newsOf = createCutDetector();
  const cuts: boolean[] = [];
  const held: boolean[] = [];
  const streams = new Map<number, FaceStream>();
  let listening: Promise<Sound | null> | undefined;
  let handFinder = createHandFinders(run);
  let followed: Box | null = null;
  let nextLook = 0;
  let stopped = false;
  /** Sees what the last look's picture shows of the faces found in it. */
  let lookBack = async (): Promise<void> => undefined;
  for await (const { picture, seconds, held: isHeld } of frames) {
    stopped = seconds >= untilSeconds && listening === undefined;
    if (stopped) break;
    const frame = held.length;
    const news = isHeld ? null : newsOf(picture, followed);
    const newShot = news?.shot === true;
    const looks = news !== null && (newShot || news.face || seconds >= nextLook);
    held.push(isHeld);
    cuts.push(newShot);
    const looking: Promise<Looks | null> = looks ? track(picture, seconds, news) : Promise.resolve(null);
    // This thread would otherwise wait for the graphs.
    const [found] = await allEnded([looking, lookBack()]);
    lookBack = async () => undefined;
    if (newShot) {
      for (const stream of streams.values()) stream.end();
      handFinder = createHandFinders(run);
    }
    if (found) {
      nextLook = seconds + LOOK_EVERY;
      followed = found.main;
      if (found.looks.length > 1) listening ??= listen();
      // Whether it can be heard matters at the end.
      listening?.catch(() => undefined);
      lookBack = async () => {
        for (const { face, points } of found.looks) {
          const stream = streams.get(face) ?? createFaceStream(frame, picture, source, handFinder());
          streams.set(face, stream);
          await stream.see(frame, seconds, picture, points);
        }
      };
    }
    onFrame?.(held.length);
  }
  await lookBack();
  for (const stream of streams.values()) stream.end();
  const known = { clock: clockOf(held.length), held, cuts };
  const inCompany = listening !== undefined;
  const sound = (await listening) ?? null;
  const faces = composeFaces([...streams.values()], known, sound);
  return {
    track: buildTrack({ analyzerVersion: analyzer.version, source, ...known, ...faces }),
    settledFrames: settledFrames(known.clock, inCompany ? TURN_AHEAD : 0),
    stopped,
  };
}

/** Larger pictures take longer to decode and reveal no more: the landmark network sees a face at 112 pixels. */
const LONGEST_SIDE = 960;

/** Twice the widest pixel in broadcasting (64:33). A tag that claims more is wrong, and its pixels count as square. */
const WIDEST_PIXEL = 4;

/**
 * The size at which a video's frames are analyzed. The frames have their display shape whatever the shape of the stored
 * pixels (`pixelAspect`, width over height), because the networks know only faces as people see them. Both sides are
 * even, the height is never more than stored, and the longer side is at most 960.
 */
export function analysisSize(stored: Size, pixelAspect: Rational): Size {
  const shownWidth = stored.width * plausible(pixelAspect.num / pixelAspect.den);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(shownWidth, stored.height));
  const even = (length: number): number => Math.max(2, Math.round((length * scale) / 2) * 2);
  return { width: even(shownWidth), height: even(stored.height) };
}

function plausible(aspect: number): number {
  return Math.max(aspect, 1 / aspect) > WIDEST_PIXEL ? 1 : aspect;
}
