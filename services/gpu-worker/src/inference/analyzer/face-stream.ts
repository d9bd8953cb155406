import { type Clock, secondsAt } from '@lipsync/domain';
import { type Cover, type LookColors, lookColors } from '@lipsync/engines';
import { type RgbPicture } from '@lipsync/kernels';
import { type AnalyzedFrames, fillGaps, LONGEST_GAP, markJumps } from './build-track';
import { createCoverFinder, type FoundCover } from './cover-finder';
import { type HandFinder } from './hand-finder';

/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** What is known of one face of a shot, frame by frame from frame `start` on. */
export interface FaceRows {
  readonly start: number;
  /** 136 landmark values in pixels of the source picture, or null where the face was not found. */
  readonly faces: readonly (Float32Array | null)[];
  /** The colors of the face at the last look at it. */
  readonly colors: readonly (LookColors | null)[];
  /** Whether the face jumps. */
  readonly cuts: readonly boolean[];
  /** What covers the face, as far as the last look at it tells, and whether it covers the mouth. */
  readonly covers: readonly (Cover | null)[];
  readonly covered: readonly boolean[];
}

export type FaceStream = ReturnType<typeof createFaceStream>;

/**
 * Follows one face from frame `start` on through its shot, in pictures of the size `analyzed`, and keeps all that the
 * analysis reads from them.
 */
export function createFaceStream(start: number, analyzed: Size, source: Size, findHands: HandFinder) {
  const faces: (Float32Array | null)[] = [];
  const colors: (LookColors | null)[] = [];
  const isLookedAt: boolean[] = [];
  const scale = [source.width / analyzed.width, source.height / analyzed.height] as const;
  const finder = createCoverFinder(findHands, scale);

  /** Frames that nobody looked at, up to this one. */
  function skipTo(frame: number): void {
    while (start + faces.length < frame) {
      faces.push(null);
      colors.push(colors.at(-1) ?? null);
      isLookedAt.push(false);
    }
  }

  return {
    start,
    /** A look at a frame's picture, in which the face has these landmarks, or is not found. Frames come in order. */
    async see(
      frame: number,
      seconds: number,
      picture: RgbPicture,
      points: Float32Array | null,
    ): Promise<void> {
      skipTo(frame);
      const face = points && points.map((value, i) => value * scale[i % 2 === 0 ? 0 : 1]);
      if (points && face) await finder.see(frame, seconds, picture, points, face);
      else finder.lose(frame, seconds);
      faces[frame - start] = face;
      colors[frame - start] = points && lookColors(picture, points);
      isLookedAt[frame - start] = true;
    },
    /** Ends the shot: no look follows, and the memory of its pictures is freed. */
    end(): void {
      finder.end();
    },
    /** What is known of the face up to frame `end`, where its shot ends. Gaps are filled. */
    rows(end: number, { clock, held }: Omit<AnalyzedFrames, 'cuts'>): FaceRows {
      skipTo(end);
      const cuts = faces.map(() => false);
      // A picture that nobody looked at may show the face: a gap begins where a look misses it.
      const isKnown = (frame: number): boolean => isLookedAt[frame] === true && held[start + frame] !== true;
      const frames = { clock: clockFrom(clock, start), held: faces.map((_, i) => !isKnown(i)), cuts };
      markJumps(faces, frames);
      fillGaps(faces, frames);
      // What was not looked at is as it was before: a held picture, and the last ones before the face is lost or cut.
      const found = finder.found();
      let last: FoundCover | undefined;
      const covers = faces.map((): Cover | null => null);
      const covered = faces.map(() => false);
      let lookedAt = 0;
      for (const frame of faces.keys()) {
        if (isLookedAt[frame]) lookedAt = frame;
        const isRecent = secondsAt(frames.clock, frame) - secondsAt(frames.clock, lookedAt) < LONGEST_GAP;
        const isSkipped = !isLookedAt[frame] && !faces[frame] && isRecent;
        if (held[start + frame] || isSkipped) faces[frame] = faces[frame - 1] ?? null;
        last = found.get(start + frame) ?? last;
        covers[frame] = last?.cover ?? null;
        covered[frame] = last?.coversMouth === true;
      }
      return { start, faces, colors, cuts, covers, covered };
    },
  };
}

/** The same times, numbered from this frame on. */
function clockFrom({ timescale, ticks }: Clock, frame: number): Clock {
  return { timescale, ticks: ticks.subarray(frame) };
}
