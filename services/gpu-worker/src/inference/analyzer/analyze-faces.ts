import { buildTrack } from './build-track';
import { createFaceDetector } from './face-detector';
import { landmarkBounds } from './face-patch';
import { createFaceTracker } from './face-tracker';
import { fillGaps } from './fill-gaps';
import { createLandmarkFinder } from './landmark-finder';
import { markJumps } from './mark-jumps';
import { createCutDetector } from './shot-cuts';
import { type FaceTrack, type AnalyzerParams, type RunModel } from '@lipsync/engines';
import { type Box, type RgbPicture } from '@lipsync/kernels';

export interface FaceAnalysis {
  /**
   * The video's frames at 25 a second, packed RGB, all of one size (see `analysisSize`). The analysis reads a frame
   * only until it asks for the next one, so the frame's memory may be reused.
   */
  readonly frames: AsyncIterable<RgbPicture>;
  /** Size of the source picture. The track's coordinates are in its pixels. */
  readonly source: { readonly width: number; readonly height: number };
  /** The analyser pack: its parameters, its version (recorded in the track) and its graphs. */
  readonly params: AnalyzerParams;
  readonly analyzerVersion: string;
  readonly run: RunModel;
  /** Called after every frame with the number of frames done. Throwing stops the analysis. */
  readonly onFrame?: (framesDone: number) => void;
}

/** Finds the main face of a video in every frame. Rejects with what the frames, the graphs or onFrame threw. */
export async function analyzeFaces(analysis: FaceAnalysis): Promise<FaceTrack> {
  const { source, params, run } = analysis;
  const detector = createFaceDetector(run, params.detector);
  const track = createFaceTracker(detector, createLandmarkFinder(run, params.landmarks), params);
  const isCut = createCutDetector();
  const faces: (Float32Array | null)[] = [];
  const cuts: boolean[] = [];
  let followed: Box | null = null;
  for await (const picture of analysis.frames) {
    const newShot = isCut(picture, followed);
    const points = await track(picture, newShot);
    followed = points && landmarkBounds(points);
    faces.push(points === null ? null : toSource(points, picture, source));
    cuts.push(newShot);
    analysis.onFrame?.(faces.length);
  }
  markJumps(faces, cuts);
  fillGaps(faces, cuts);
  return buildTrack({ analyzerVersion: analysis.analyzerVersion, source, faces, cuts });
}

function toSource(
  points: Float32Array,
  from: RgbPicture,
  to: { width: number; height: number },
): Float32Array {
  const scaleX = to.width / from.width;
  const scaleY = to.height / from.height;
  return points.map((value, i) => value * (i % 2 === 0 ? scaleX : scaleY));
}
