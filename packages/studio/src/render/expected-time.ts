import { type RecentRender } from '../history/recent-work';

/** The progress of every engine at a moment. */
export interface Observation {
  readonly atMs: number;
  readonly engines: readonly {
    readonly engine: string;
    readonly status: string;
    readonly stage: string;
    readonly progress_percent: number;
  }[];
}

/** A pace is measured over at least so much: before that it says more about the start than about the rest. */
const LEAST_POINTS = 10;
const LEAST_MS = 3000;

/** Seconds until the last engine is done, by the pace of each so far; null until all that work have shown one. */
export function secondsLeft(seen: readonly Observation[], nowMs: number): number | null {
  const last = seen.at(-1);
  if (last === undefined) return null;
  const left = last.engines
    .filter(({ status }) => status === 'accepted' || status === 'processing')
    .map(({ engine, progress_percent: percent }) => {
      // What comes before the first picture has another pace.
      const drawn = seen.flatMap(({ atMs, engines }) =>
        engines
          .filter((one) => one.engine === engine && one.stage === 'inferencing')
          .map((one) => ({ atMs, percent: one.progress_percent })),
      );
      const [first, latest] = [drawn[0], drawn.at(-1)];
      if (first === undefined || latest === undefined) return null;
      const [passedMs, points] = [latest.atMs - first.atMs, latest.percent - first.percent];
      if (passedMs < LEAST_MS || points < LEAST_POINTS) return null;
      return Math.max(0, ((100 - percent) * passedMs) / points - (nowMs - last.atMs)) / 1000;
    });
  return left.some((seconds) => seconds === null) ? null : Math.max(0, ...left.map(Number));
}

/** Outputs of nearly the same length take nearly the same time. */
const ALIKE = 1.5;

/** What renders of these engines and about this length have taken in this browser, in seconds, shortest first. */
export function timesOfAlike(render: RecentRender, others: readonly RecentRender[]): number[] {
  const { engines, outputSeconds } = render;
  if (outputSeconds === undefined) return [];
  return others
    .filter((other) => {
      const ratio = (other.outputSeconds ?? 0) / outputSeconds;
      const isSame = [...other.engines].sort().join() === [...engines].sort().join();
      return other.id !== render.id && isSame && ratio >= 1 / ALIKE && ratio <= ALIKE;
    })
    .flatMap(({ tookSeconds }) => (tookSeconds === undefined ? [] : [tookSeconds]))
    .sort((a, b) => a - b);
}

/** What to expect, as far as it is known: by the pace of this render, else by renders like it. Null if it is not known. */
export function expectation(left: number | null, alike: readonly number[]): string | null {
  if (left !== null) return left < 5 ? 'a few seconds left' : `about ${roughly(left)} left`;
  const [shortest, longest] = [alike[0], alike.at(-1)];
  if (shortest === undefined || longest === undefined) return null;
  if (alike.length === 1) return `one like this took ${roughly(shortest)}`;
  const [from, to] = [roughly(shortest), roughly(longest)];
  if (from === to) return `usually takes ${from}`;
  const isSameUnit = from.split(' ')[1] === to.split(' ')[1];
  return `usually takes ${isSameUnit ? from.split(' ')[0] : from}–${to}`;
}

/** As exact as a guess may sound: “25 s”, “3 min”. */
function roughly(seconds: number): string {
  if (seconds < 57.5) return `${Math.max(5, Math.round(seconds / 5) * 5)} s`;
  return `${Math.max(1, Math.round(seconds / 60))} min`;
}

/** “0:07”, “12:30” */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
