import { type SyncMode } from '@lipsync/contract';

/** One picture of the source while it is on screen; times in seconds from the first picture on. */
export interface Showing {
  /** The number burned into it; -1 if it cannot be read. */
  readonly number: number;
  readonly start: number;
  readonly end: number;
  /** How many frames show it, one after the other. */
  readonly frames: number;
}

/** Pictures that come faster after the last kept one are dropped: of a source with more than 60 a second, and of others. */
const CLOSEST_SECONDS = { fast: 0.88 / 60, other: 0.3 / 60 };
/** A picture that stays longer is held: several frames show it, of at most this length. */
const HELD_SECONDS = 0.1;
const HELD_FRAME_SECONDS = 0.04;
const EPSILON = 1e-6;

/** Frames that follow each other and show the same picture. */
export function showingsOf(numbers: readonly number[], starts: readonly number[], end: number): Showing[] {
  const first = starts[0] ?? 0;
  const showings: Showing[] = [];
  numbers.forEach((number, i) => {
    const until = (starts[i + 1] ?? end) - first;
    const last = showings.at(-1);
    if (last?.number === number) showings.splice(-1, 1, { ...last, end: until, frames: last.frames + 1 });
    else showings.push({ number, start: (starts[i] ?? 0) - first, end: until, frames: 1 });
  });
  return showings;
}

/** A frame of a video, and for how many seconds it stays. */
interface Frame {
  readonly number: number;
  readonly seconds: number;
}

/** What a render of a source has to show with a voice of this length, worked out from what the docs promise. */
export function expectedShowings(
  source: readonly Showing[],
  mode: SyncMode,
  voiceSeconds: number,
): Showing[] {
  const plain = keptPictures(source).flatMap(held);
  const length = lengthOf(plain);
  const usual = plain.map(({ seconds }) => seconds).sort((a, b) => a - b)[plain.length >> 1] ?? 0;
  // Lengths that differ by at most one frame count as equal.
  if (Math.abs(voiceSeconds - length) <= usual + EPSILON) return shownAsFrames(plain);
  switch (mode) {
    case 'cut_off':
      return shownAsFrames(until(plain, voiceSeconds));
    case 'silence': {
      const still = plain.at(-1)?.number ?? -1;
      const tail = Math.max(0, Math.floor((voiceSeconds - length) / usual + EPSILON));
      return shownAsFrames([...plain, ...new Array<Frame>(tail).fill({ number: still, seconds: usual })]);
    }
    case 'loop':
      return shownAsFrames(until(alternating(plain, plain, voiceSeconds), voiceSeconds));
    case 'bounce': {
      const back = plain.slice(1, -1).reverse();
      return shownAsFrames(until(alternating(plain, back, voiceSeconds), voiceSeconds));
    }
    case 'remap': {
      const frames = Math.floor(voiceSeconds / usual + EPSILON);
      return shownAsFrames(
        Array.from({ length: frames }, (_, i) => ({
          number: numberAt(plain, ((i + 0.5) * length) / frames),
          seconds: usual,
        })),
      );
    }
  }
}

function keptPictures(source: readonly Showing[]): Showing[] {
  const isFast = source.length / (source.at(-1)?.end ?? 0) > 1 / CLOSEST_SECONDS.fast;
  const closest = isFast ? CLOSEST_SECONDS.fast : CLOSEST_SECONDS.other;
  const kept: Showing[] = [];
  for (const showing of source) {
    const last = kept.at(-1);
    if (last === undefined || showing.start - last.start >= closest - EPSILON) kept.push(showing);
  }
  return kept.map((showing, i) => ({
    ...showing,
    end: kept[i + 1]?.start ?? source.at(-1)?.end ?? showing.end,
  }));
}

function held({ number, start, end }: Showing): Frame[] {
  const seconds = end - start;
  const frames = seconds <= HELD_SECONDS + EPSILON ? 1 : Math.ceil(seconds / HELD_FRAME_SECONDS - EPSILON);
  return new Array<Frame>(frames).fill({ number, seconds: seconds / frames });
}

const lengthOf = (frames: readonly Frame[]): number => frames.reduce((sum, { seconds }) => sum + seconds, 0);

/** `forth`, then `back` and `forth` in turn, for so long or longer. */
function alternating(forth: readonly Frame[], back: readonly Frame[], seconds: number): Frame[] {
  const shown = [...forth];
  for (let round = 1; lengthOf(shown) < seconds; round += 1) shown.push(...(round % 2 === 1 ? back : forth));
  return shown;
}

/** The frames that have ended by then. */
function until(frames: readonly Frame[], seconds: number): Frame[] {
  let now = 0;
  return frames.filter((frame) => (now += frame.seconds) <= seconds + EPSILON);
}

function numberAt(frames: readonly Frame[], second: number): number {
  let now = 0;
  return frames.find((frame) => (now += frame.seconds) > second)?.number ?? frames.at(-1)?.number ?? -1;
}

function shownAsFrames(frames: readonly Frame[]): Showing[] {
  let now = 0;
  const starts = frames.map(({ seconds }) => (now += seconds) - seconds);
  return showingsOf(
    frames.map(({ number }) => number),
    starts,
    now,
  );
}

export interface PictureFigures {
  readonly expected: number;
  /** Frames of the output. */
  readonly frames: number;
  readonly dropped: number;
  /** Frames that show a picture again, or one that has no place there. */
  readonly repeated: number;
  /** Frames that show again a picture that is to be held. */
  readonly held: number;
  readonly unreadable: number;
  /** The furthest that a picture appears from its time. */
  readonly moved_ms: number;
  /** The most by which the time from one picture to the next differs from what was filmed: judder. */
  readonly judder_ms: number;
  /** The longest that one frame stays. */
  readonly longest_frame_ms: number;
  /** By how much the pictures end later than they should. */
  readonly late_end_ms: number;
}

/** Compares what is shown with what is to be shown, picture by picture, by their numbers. */
export function comparePictures(expected: readonly Showing[], shown: readonly Showing[]): PictureFigures {
  const pairs = inOrder(expected, shown);
  const ms = (seconds: number): number => Math.round(seconds * 1e5) / 100;
  const most = (values: readonly number[]): number => ms(Math.max(0, ...values.map(Math.abs)));
  const matched = new Set(pairs.map(([, b]) => b));
  const surplus = pairs.map(([a, b]) => ({ isHeld: a.frames > 1, frames: b.frames - 1 }));
  const count = (isHeld: boolean): number =>
    surplus.filter((each) => each.isHeld === isHeld).reduce((sum, { frames }) => sum + frames, 0);
  const strays = shown
    .filter((showing) => !matched.has(showing))
    .reduce((sum, { frames }) => sum + frames, 0);
  return {
    expected: expected.length,
    frames: shown.reduce((sum, { frames }) => sum + frames, 0),
    dropped: expected.length - pairs.length,
    repeated: count(false) + strays,
    held: count(true),
    unreadable: shown.filter(({ number }) => number < 0).length,
    moved_ms: most(pairs.map(([a, b]) => b.start - a.start)),
    judder_ms: most(
      pairs.slice(1).map(([a, b], i) => {
        const [before, shownBefore] = pairs[i] ?? [a, b];
        return b.start - shownBefore.start - (a.start - before.start);
      }),
    ),
    longest_frame_ms: ms(Math.max(0, ...shown.map(({ start, end, frames }) => (end - start) / frames))),
    late_end_ms: ms((shown.at(-1)?.end ?? 0) - (expected.at(-1)?.end ?? 0)),
  };
}

/** The longest common sequence by numbers. */
function inOrder(expected: readonly Showing[], shown: readonly Showing[]): [Showing, Showing][] {
  const width = shown.length + 1;
  const lengths = new Uint16Array((expected.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = expected.length - 1; i >= 0; i -= 1)
    for (let j = shown.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        expected[i]?.number === shown[j]?.number
          ? 1 + at(i + 1, j + 1)
          : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: [Showing, Showing][] = [];
  let [i, j] = [0, 0];
  for (let a = expected[i], b = shown[j]; a !== undefined && b !== undefined; a = expected[i], b = shown[j])
    if (a.number === b.number) {
      pairs.push([a, b]);
      [i, j] = [i + 1, j + 1];
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  return pairs;
}
