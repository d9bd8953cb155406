import { Histogram } from './histogram';
import { createAnswerTally, type ErrorCount, FAILURE_CLASSES, type Outcome } from './outcome';

/** A request and its outcome; times in milliseconds of the run's clock. */
export interface MeasuredRequest {
  readonly operation: string;
  /** When the caller wanted it: its arrival, or the response that it waited for. */
  readonly intendedAt: number;
  /** When a connection took it. */
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly outcome: Outcome;
}

export interface OperationFigures {
  readonly latency: Histogram;
  readonly response: Histogram;
  requests: number;
  /** Answered during the measured time, including requests from the warm-up. */
  answeredInTime: number;
  succeeded: number;
  expected: number;
  limited: number;
  failed: number;
}

export interface StreamFigures {
  arrivals: number;
  notSent: number;
  sentSinceHalf: number;
  completed: number;
  /**
   * Completed during the measured time, including callers from the warm-up: throughput counts all completions in that
   * time.
   */
  completedInTime: number;
  failed: number;
  /** Including callers from the warm-up, because they occupy the service too. */
  underWayAtHalf: number;
  underWayAtEnd: number;
  /** From a caller's arrival to the end of its journey. */
  readonly latency: Histogram;
  /** How late arrivals were sent because the generator was busy. */
  readonly lag: Histogram;
}

export interface Slice {
  arrivals: number;
  notSent: number;
  completed: number;
  requests: number;
  failed: number;
  limited: number;
  readonly latency: Map<string, Histogram>;
}

interface RecorderOptions {
  readonly startAt: number;
  /**
   * Earlier arrivals count in the time series, in throughput after this time and in the number in progress, but nowhere
   * else.
   */
  readonly warmUpMs: number;
  /** The middle of the measured arrivals. */
  readonly halfAt: number;
  /** Journeys completed later count as completed, but not in the throughput. */
  readonly arrivalsEndAt: () => number;
  readonly sliceMs: number;
  readonly slices: number;
}

/** Collects the figures of a run in memory that depends on the number of operations and slices, not of requests. */
export function createRecorder(options: RecorderOptions) {
  const { startAt, warmUpMs, halfAt, arrivalsEndAt, sliceMs, slices: sliceCount } = options;
  const operations = new Map<string, OperationFigures>();
  const streams = new Map<string, StreamFigures>();
  const answers = createAnswerTally();
  const slices: Slice[] = Array.from({ length: sliceCount }, emptySlice);

  const counts = (at: number): boolean => at >= startAt + warmUpMs;
  const isInTime = (at: number): boolean => counts(at) && at <= arrivalsEndAt();
  /** Anything after the last slice belongs to the last one. */
  const sliceAt = (at: number): Slice => {
    const index = Math.min(sliceCount - 1, Math.max(0, Math.floor((at - startAt) / sliceMs)));
    const slice = slices[index];
    if (slice === undefined) throw new RangeError('a run has at least one slice');
    return slice;
  };
  const streamOf = (name: string): StreamFigures => entry(streams, name, emptyStream);
  const operationOf = (name: string): OperationFigures => entry(operations, name, emptyOperation);

  return {
    request({ operation, intendedAt, sentAt, answeredAt, outcome }: MeasuredRequest): void {
      const isFailure = FAILURE_CLASSES.has(outcome.class);
      // A timeout counts with the time waited; an immediate refusal would make the service look fast.
      const tellsLatency = !(isFailure || outcome.class === 'limited') || outcome.code === 'timeout';
      const slice = sliceAt(intendedAt);
      slice.requests++;
      if (isFailure) slice.failed++;
      if (outcome.class === 'limited') slice.limited++;
      if (tellsLatency) entry(slice.latency, operation, newHistogram).record(answeredAt - intendedAt);
      if (isInTime(answeredAt)) operationOf(operation).answeredInTime++;
      if (!counts(intendedAt)) return;

      answers.request({ operation, outcome });
      const figures = operationOf(operation);
      figures.requests++;
      if (outcome.class === 'success') figures.succeeded++;
      if (outcome.class === 'expected') figures.expected++;
      if (outcome.class === 'limited') figures.limited++;
      if (isFailure) figures.failed++;
      if (tellsLatency) {
        figures.latency.record(answeredAt - intendedAt);
        figures.response.record(answeredAt - sentAt);
      }
    },
    sent(stream: string, intendedAt: number, lagMs: number): void {
      sliceAt(intendedAt).arrivals++;
      if (!counts(intendedAt)) return;
      const figures = streamOf(stream);
      figures.arrivals++;
      if (intendedAt > halfAt) figures.sentSinceHalf++;
      figures.lag.record(lagMs);
    },
    notSent(stream: string, intendedAt: number): void {
      const slice = sliceAt(intendedAt);
      slice.arrivals++;
      slice.notSent++;
      if (!counts(intendedAt)) return;
      const figures = streamOf(stream);
      figures.arrivals++;
      figures.notSent++;
    },
    served(stream: string, intendedAt: number, endedAt: number, succeeded: boolean): void {
      if (succeeded) sliceAt(endedAt).completed++;
      if (succeeded && isInTime(endedAt)) streamOf(stream).completedInTime++;
      if (intendedAt <= halfAt && endedAt > halfAt) streamOf(stream).underWayAtHalf++;
      if (endedAt > arrivalsEndAt()) streamOf(stream).underWayAtEnd++;
      if (!counts(intendedAt)) return;
      const figures = streamOf(stream);
      if (!succeeded) figures.failed++;
      else {
        figures.completed++;
        figures.latency.record(endedAt - intendedAt);
      }
    },
    operations: operations as ReadonlyMap<string, OperationFigures>,
    streams: streams as ReadonlyMap<string, StreamFigures>,
    errors: (): readonly ErrorCount[] => answers.counts().errors,
    slices: slices as readonly Slice[],
  };
}

export type Recorder = ReturnType<typeof createRecorder>;

const newHistogram = (): Histogram => new Histogram();

const emptyOperation = (): OperationFigures => ({
  latency: new Histogram(),
  response: new Histogram(),
  requests: 0,
  answeredInTime: 0,
  succeeded: 0,
  expected: 0,
  limited: 0,
  failed: 0,
});

const emptyStream = (): StreamFigures => ({
  arrivals: 0,
  notSent: 0,
  sentSinceHalf: 0,
  completed: 0,
  completedInTime: 0,
  failed: 0,
  underWayAtHalf: 0,
  underWayAtEnd: 0,
  latency: new Histogram(),
  lag: new Histogram(),
});

const emptySlice = (): Slice => ({
  arrivals: 0,
  notSent: 0,
  completed: 0,
  requests: 0,
  failed: 0,
  limited: 0,
  latency: new Map(),
});

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
