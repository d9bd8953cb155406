import { type Clock } from '@lipsync/domain';
import {
  type FaceTrack,
  FEWEST_MOUTHS,
  followsVoice,
  LANDMARK_VALUES,
  MOUTH,
  mouthOpening,
  type Recording,
  shownFrames,
  speechEnvelope,
  stepsIn,
} from '@lipsync/engines';
import { type Box, type PictureFormat } from '@lipsync/kernels';
import { type OutputQuality, type SyncQuality } from '../../protocol/messages';
import { type LoadedAnalyzer } from '../analyzer/analyze-faces';
import { facePatch, landmarkBounds } from '../analyzer/face-geometry';
import { createLandmarkFinder } from '../analyzer/landmark-finder';
import { isGraphFailure } from '../task-failure';
import { createFaceChange, createRegionReader, type LumaRegion, type RgbRegion } from './face-region';

/** Observes what an engine takes, and pictures just before and just after their face is written into them. */
export interface FaceObserver {
  /** The frame passes unchanged. */
  readonly passed: () => void;
  /** The frame's face will be generated, and enlarged by this factor to fit. */
  readonly taken: (enlargement: number) => void;
  readonly before: (frame: Uint8Array, outputIndex: number) => void;
  readonly after: (frame: Uint8Array, outputIndex: number) => void;
}

const UNMEASURED: SyncQuality = { syncCorrelation: null, syncLagSeconds: null };

/** So many seconds have enough syllables for a correlation even if some show no face, and are cheap beside any render. */
const SAMPLE_SECONDS = 4;
/** Seam and skin change little from picture to picture, and measuring them reads every pixel of a face. */
const CHANGE_EVERY_SECONDS = 0.2;
/** Nobody would call a larger lag in sync, and every additional lag searched raises the odds of a chance match. */
const MAX_LAG_SECONDS = 0.16;
/** Margin around the landmarks for what an engine changes, and around the mouth for what it means to change. */
const FACE_MARGIN = 0.25;
const MOUTH_MARGIN = 0.35;

interface SampledFace {
  readonly output: number;
  readonly region: RgbRegion;
  /** The source's landmarks in pixels of the region. */
  readonly landmarks: Float32Array;
}

export type QualityProbe = ReturnType<typeof createQualityProbe>;

/**
 * Observes the segment of an output with the most speech, and finds the mouths in it while the render goes on. A failure
 * to measure is reported in the result, and costs measurements instead of the render.
 */
export function createQualityProbe(clip: {
  readonly track: FaceTrack;
  readonly sources: readonly number[];
  /** When the output's frames are on screen. */
  readonly clock: Clock;
  readonly audio: Recording;
  readonly format: PictureFormat;
  readonly analyzer: LoadedAnalyzer;
  /** Ends the search for mouths. */
  readonly signal: AbortSignal;
}) {
  const { track, sources, clock, audio, format, signal } = clip;
  const { params, run } = clip.analyzer;
  const frames = sources.length;
  const shown = shownFrames(clock);
  const showsFace = shown.map((output) => track.found[sources[output] ?? -1] === 1);
  const loudness = speechEnvelope(audio, shown.length);
  const { from, to } = loudestSegment(loudness, showsFace, stepsIn(SAMPLE_SECONDS));
  const envelope = loudness.slice(from, to);
  /** The output frames that are looked at, one per step; slow pictures are on screen in several. */
  const looks = shown.slice(from, to);
  const looksAt = new Map<number, number>();
  for (const output of looks) looksAt.set(output, (looksAt.get(output) ?? 0) + 1);
  const compared = new Set(looks.filter((_, i) => i % stepsIn(CHANGE_EVERY_SECONDS) === 0));
  const change = createFaceChange();
  const regions = createRegionReader(format);
  const findLandmarks = createLandmarkFinder(run, params.landmarks);
  const waiting: SampledFace[] = [];
  const openings = new Map<number, number>();
  let finding = Promise.resolve();
  let sampledFrames = 0;
  let sampledLooks = 0;
  let before: LumaRegion | undefined;
  let passed = 0;
  let enlarged = 0;
  let largest: number | null = null;
  let problem: string | null = null;
  let graphFailed = false;

  const fail = (error: unknown): void => {
    graphFailed ||= isGraphFailure(error);
    problem ??= error instanceof Error ? error.message : String(error);
  };
  /** After one failed observation there are no others: they would measure its half-done state. */
  const observe = (look: () => void): void => {
    if (problem !== null) return;
    try {
      look();
    } catch (error) {
      fail(error);
    }
  };
  const landmarksOf = (outputIndex: number): Float32Array => {
    const row = (sources[outputIndex] ?? 0) * LANDMARK_VALUES;
    return track.landmarks.subarray(row, row + LANDMARK_VALUES);
  };
  const regionOf = (landmarks: Float32Array): Box =>
    insidePicture(widened(landmarkBounds(landmarks), FACE_MARGIN), format);

  function lookAfter(frame: Uint8Array, outputIndex: number): void {
    const landmarks = landmarksOf(outputIndex);
    const box = regionOf(landmarks);
    if (before !== undefined) {
      const mouth = widened(landmarkBounds(landmarks, ...MOUTH), MOUTH_MARGIN);
      change.add(before, regions.luma(frame, box), movedBy(mouth, -box.x1, -box.y1));
    }
    const region = regions.rgb(frame, box);
    if (!region) return;
    waiting.push({ output: outputIndex, region, landmarks: toRegion(landmarks, region) });
    sampledFrames++;
    sampledLooks += looksAt.get(outputIndex) ?? 0;
    if (sampledLooks < FEWEST_MOUTHS) return;
    finding = finding.then(findMouths);
    // The judgment reports it.
    finding.catch(() => undefined);
  }

  /** Finds the mouths of the faces sampled so far. */
  async function findMouths(): Promise<void> {
    for (let face = waiting.shift(); face !== undefined; face = waiting.shift()) {
      signal.throwIfAborted();
      const patch = facePatch(face.landmarks, params.landmarks.scale);
      openings.set(face.output, mouthOpening((await findLandmarks(face.region.picture, patch)).points));
    }
  }

  async function sync(): Promise<SyncQuality> {
    await finding;
    if (sampledLooks < FEWEST_MOUTHS) return UNMEASURED;
    const seen = looks.map((output) => openings.get(output) ?? null);
    const { pearson, lagSeconds } = followsVoice(envelope, seen, MAX_LAG_SECONDS);
    return { syncCorrelation: pearson, syncLagSeconds: lagSeconds };
  }

  const observer: FaceObserver = {
    passed: () => passed++,
    taken(enlargement) {
      if (enlargement > 1) enlarged++;
      largest = Math.max(largest ?? 0, enlargement);
    },
    before: (frame, outputIndex) =>
      observe(() => {
        before = compared.has(outputIndex)
          ? regions.luma(frame, regionOf(landmarksOf(outputIndex)))
          : undefined;
      }),
    after: (frame, outputIndex) =>
      observe(() => {
        if (looksAt.has(outputIndex)) lookAfter(frame, outputIndex);
      }),
  };
  return {
    ...observer,
    /** Computes the result; never rejects. */
    async judge(): Promise<OutputQuality> {
      let measured = UNMEASURED;
      try {
        measured = await sync();
      } catch (error) {
        fail(error);
      }
      return {
        ...measured,
        ...change.result(),
        facelessShare: passed / Math.max(1, frames),
        enlargedShare: enlarged / Math.max(1, frames),
        largestEnlargement: largest,
        sampledFrames,
        problem,
      };
    },
    /** Resolves once no graph of the analyzer runs for it any more, however the search for mouths ended. */
    async ended(): Promise<void> {
      await Promise.allSettled([finding]);
    },
    /** Whether a graph failed at it. */
    graphFailed: () => graphFailed,
  };
}

/** Grows a box by a share of its longer side in every direction. */
function widened({ x1, y1, x2, y2 }: Box, part: number): Box {
  const margin = part * Math.max(x2 - x1, y2 - y1);
  return { x1: x1 - margin, y1: y1 - margin, x2: x2 + margin, y2: y2 + margin };
}

/** Clips a box to whole pixels inside the picture; empty if none remain. */
function insidePicture(box: Box, { width, height }: PictureFormat): Box {
  const x1 = Math.min(width, Math.max(0, Math.floor(box.x1)));
  const y1 = Math.min(height, Math.max(0, Math.floor(box.y1)));
  return {
    x1,
    y1,
    x2: Math.max(x1, Math.min(width, Math.ceil(box.x2))),
    y2: Math.max(y1, Math.min(height, Math.ceil(box.y2))),
  };
}

function movedBy({ x1, y1, x2, y2 }: Box, dx: number, dy: number): Box {
  return { x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy };
}

function toRegion(landmarks: Float32Array, { left, top, step }: RgbRegion): Float32Array {
  return landmarks.map((value, i) => (value - (i % 2 === 0 ? left : top)) / step);
}

/**
 * The segment [from, to) of at most `length` steps with the most speech in steps that show a face, so that sync is
 * measured where there is something to measure.
 *
 * @param envelope loudness per step
 * @param shown per step whether it shows a face
 */
export function loudestSegment(
  envelope: readonly number[],
  shown: readonly boolean[],
  length: number,
): { from: number; to: number } {
  const worth = envelope.map((loudness, i) => (shown[i] === true ? loudness : 0));
  const size = Math.min(length, worth.length);
  let sum = worth.slice(0, size).reduce((total, value) => total + value, 0);
  let best = { from: 0, sum };
  for (let from = 1; from + size <= worth.length; from++) {
    sum += (worth[from + size - 1] ?? 0) - (worth[from - 1] ?? 0);
    if (sum > best.sum) best = { from, sum };
  }
  return { from: best.from, to: best.from + size };
}
