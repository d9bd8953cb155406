import { type SyncMode } from '@lipsync/client';
import { constantClock, endOf } from '@lipsync/domain/clock';
import { timelineOf } from '@lipsync/domain/timeline';

/** What a track does for a while: plays (forward, backward, slower or faster), stands still, is silent, or is left out. */
type SegmentKind = 'forward' | 'backward' | 'stretched' | 'held' | 'silent' | 'unused';

export interface Segment {
  readonly kind: SegmentKind;
  /** Seconds of the output. What is unused begins where the output ends. */
  readonly from: number;
  readonly to: number;
}

export interface TimelinePicture {
  readonly outputSeconds: number;
  /** The width of the picture: everything that is drawn ends before it. */
  readonly totalSeconds: number;
  readonly video: readonly Segment[];
  readonly voice: readonly Segment[];
}

/** More pieces than this would be drawn as a gray band. */
const MAX_PIECES = 60;

/** The rate of a file is not known before the service has seen it; a picture shows no single frames. */
const FPS = 30;

/** The tracks of a render, to be drawn. */
export function timelinePicture(mode: SyncMode, videoSeconds: number, voiceSeconds: number): TimelinePicture {
  const source = constantClock({ num: FPS, den: 1 }, Math.max(1, Math.round(videoSeconds * FPS)));
  const outputSeconds = endOf(timelineOf(mode, source, voiceSeconds).clock);
  const isLonger = outputSeconds > videoSeconds + 1 / FPS;
  const video =
    mode === 'remap'
      ? [piece(isEqual(videoSeconds, outputSeconds) ? 'forward' : 'stretched', 0, outputSeconds)]
      : isLonger && mode !== 'silence'
        ? repeated(mode, videoSeconds, outputSeconds)
        : track(videoSeconds, outputSeconds, 'held');
  return {
    outputSeconds,
    totalSeconds: Math.max(outputSeconds, videoSeconds, voiceSeconds),
    video,
    voice: track(voiceSeconds, outputSeconds, 'silent'),
  };
}

const piece = (kind: SegmentKind, from: number, to: number): Segment => ({ kind, from, to });
const isEqual = (a: number, b: number): boolean => Math.abs(a - b) <= 1 / FPS;

/** A track that plays once: the rest of the output is `filler`, and the rest of the track unused. */
function track(seconds: number, outputSeconds: number, filler: SegmentKind): Segment[] {
  const played = piece('forward', 0, Math.min(seconds, outputSeconds));
  if (isEqual(seconds, outputSeconds)) return [played];
  return [
    played,
    seconds < outputSeconds ? piece(filler, seconds, outputSeconds) : piece('unused', outputSeconds, seconds),
  ];
}

function repeated(mode: SyncMode, videoSeconds: number, outputSeconds: number): Segment[] {
  const length = Math.max(videoSeconds, outputSeconds / MAX_PIECES);
  const count = Math.ceil(outputSeconds / length - 1e-6);
  return Array.from({ length: count }, (_, i) =>
    piece(
      mode === 'bounce' && i % 2 === 1 ? 'backward' : 'forward',
      i * length,
      Math.min((i + 1) * length, outputSeconds),
    ),
  );
}
