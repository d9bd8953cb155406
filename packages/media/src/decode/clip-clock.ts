import {
  type Clock,
  FINEST_TIMESCALE,
  LONGEST_FRAME_SECONDS,
  MEDIA_MAX_SECONDS,
  type Rational,
} from '@lipsync/domain';

/** Frames of a held picture last no longer, in seconds, so that lips keep moving on it. */
const HELD_FRAME_SECONDS = 1 / 25;
/** How far the times of a constant rate may be off, in seconds, or one unit of the time base: they are rounded to it. */
const JITTER_SECONDS = 1e-3;
/** More than any accepted video lasts: what follows a far-off time is not the clip any more. */
const MAX_SECONDS = MEDIA_MAX_SECONDS + 2;
/** Absorbs what floating point takes from a quotient. */
const ROUNDING = 1e-6;
/** Ticks per second that make the frames of a held picture equally long. */
const FINE_TIMESCALE = 10_000;

/** When the frames of a clip are on screen, and which of them show the picture of the frame before. */
export interface ClipFrames {
  readonly clock: Clock;
  /** By frame: 1 if it shows the picture of the frame before, 0 if a picture of its own. */
  readonly held: Uint8Array;
}

/** A frame is a part of its picture's time on screen, and begins at this share of it. */
interface ClipFrame {
  readonly picture: number;
  readonly share: number;
}

/**
 * Makes a clip's clock of its pictures' times, as these become known. A picture is one frame, or several equally long
 * ones if it stays on screen for longer than `LONGEST_FRAME_SECONDS`.
 */
export class ClipClock {
  /** Each picture's time in units of the time base, 0 for the first; after `end`, the end is the last. */
  private readonly times: number[] = [];
  /** The frames of all pictures of which the end is known. */
  private readonly frames: ClipFrame[] = [];
  private first = 0;
  private ended = false;
  private readonly unit: number;

  constructor(
    private readonly timeBase: Rational,
    /** The rate in frames per second that the container claims to be constant. */
    private readonly claimedRate: Rational | null,
  ) {
    this.unit = timeBase.num / timeBase.den;
  }

  /** Adds a picture's time, in units of the time base, later than those before; false if it is too far off for that. */
  add(time: number): boolean {
    if (this.times.length === 0) this.first = time;
    if ((time - this.first) * this.unit > MAX_SECONDS) return false;
    this.append(time - this.first);
    return true;
  }

  /**
   * There are no more pictures: the last one stays as long as pictures usually do, or up to `videoSeconds` from the first
   * one's time if that is later.
   */
  end(videoSeconds = 0): void {
    const last = this.times.at(-1);
    if (last === undefined) return;
    const seconds = Math.min(videoSeconds, MAX_SECONDS);
    const end = Math.max(last + this.usualUnits(), Math.round(seconds / this.unit));
    this.append(end);
    this.ended = true;
  }

  /** The second of the file's own clock at which the first picture appears. */
  get startSeconds(): number {
    return this.first * this.unit;
  }

  /** Number of frames of the pictures whose end is known. */
  get length(): number {
    return this.frames.length;
  }

  /**
   * When a frame appears, or after the last one ends, in seconds from the first one, by the times in the file.
   */
  secondsAt(frame: number): number {
    return (this.at(frame, this.times) * this.timeBase.num) / this.timeBase.den;
  }

  isHeld(frame: number): boolean {
    return (this.frames[frame]?.share ?? 0) > 0;
  }

  /** The clock of the first `count` frames. */
  framesUpTo(count: number): ClipFrames {
    const { timescale, times } = this.constantTimes() ?? this.ownTimes();
    const held = Uint8Array.from({ length: count }, (_, frame) => (this.isHeld(frame) ? 1 : 0));
    const finer = held.includes(1) ? Math.max(1, Math.ceil(FINE_TIMESCALE / timescale)) : 1;
    const ticks = Uint32Array.from({ length: count + 1 }, (_, frame) =>
      Math.round(this.at(frame, times) * finer),
    );
    return { clock: { timescale: timescale * finer, ticks }, held };
  }

  private append(time: number): void {
    const picture = this.times.length - 1;
    const before = this.times.at(-1);
    this.times.push(time);
    if (before === undefined) return;
    const seconds = (time - before) * this.unit;
    const isLong = seconds > LONGEST_FRAME_SECONDS + ROUNDING;
    const count = isLong ? Math.ceil(seconds / HELD_FRAME_SECONDS - ROUNDING) : 1;
    for (let part = 0; part < count; part += 1) this.frames.push({ picture, share: part / count });
  }

  /** The moment at which a frame appears, or at which the last one ends, out of the pictures' times. */
  private at(frame: number, times: readonly number[]): number {
    const { picture, share } = this.frames[frame] ?? { picture: this.times.length - 1, share: 0 };
    const start = times[picture] ?? NaN;
    return share === 0 ? start : start + share * ((times[picture + 1] ?? NaN) - start);
  }

  /** The median time between two pictures; of a single one, that of the rate. */
  private usualUnits(): number {
    const steps = this.times.slice(1).map((time, picture) => time - (this.times[picture] ?? 0));
    steps.sort((a, b) => a - b);
    const claimed = this.claimedRate ? this.claimedRate.den / this.claimedRate.num : HELD_FRAME_SECONDS;
    return steps[steps.length >> 1] ?? Math.max(1, Math.round(claimed / this.unit));
  }

  /** The pictures' times by the rate that the container claims, if these are as close to it as rounding allows. */
  private constantTimes(): { timescale: number; times: number[] } | undefined {
    const rate = this.claimedRate;
    if (rate === null || rate.num > FINEST_TIMESCALE) return undefined;
    const perUnit = (this.unit * rate.num) / rate.den;
    const tolerance = Math.min(0.25, Math.max(perUnit, (JITTER_SECONDS * rate.num) / rate.den) + ROUNDING);
    const pictures = this.ended ? this.times.length - 1 : this.times.length;
    const steps = this.times.map((time) => Math.round(time * perUnit));
    const isConstant = steps
      .slice(0, pictures)
      .every((step, picture) => Math.abs((this.times[picture] ?? 0) * perUnit - step) <= tolerance);
    // In a coarse time base, two pictures may be near the same step.
    if (steps.some((step, picture) => step === steps[picture - 1])) return undefined;
    return isConstant ? { timescale: rate.num, times: steps.map((step) => step * rate.den) } : undefined;
  }

  /** The pictures' times as they are. */
  private ownTimes(): { timescale: number; times: number[] } {
    const { num, den } = this.timeBase;
    if (den <= FINEST_TIMESCALE) return { timescale: den, times: this.times.map((time) => time * num) };
    const perUnit = this.unit * FINEST_TIMESCALE;
    return { timescale: FINEST_TIMESCALE, times: this.times.map((time) => Math.round(time * perUnit)) };
  }
}
