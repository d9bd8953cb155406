import { Histogram } from './histogram';
import { createAnswerTally, FAILURE_CLASSES, type Outcome } from './outcome';

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
  const { startAt, warmUpMs, halfAt, arrivalsEndAt, sliceMs } = options;
  const operations = new Map<string, OperationFigures>();
  const streams = new Map<string, StreamFigures>();
  const answers = createAnswerTally();
  const slices = Array.from({ length: options.slices }, newSlice);
  /** How late arrivals were sent because the generator was busy. */
  const lag = new Histogram();

  const counts = (at: number): boolean => at >= startAt + warmUpMs;
  const isInTime = (at: number): boolean => counts(at) && at <= arrivalsEndAt();
  /** Anything after the last slice belongs to the last one. */
  const sliceAt = (at: number): Slice => {
    const index = Math.min(slices.length - 1, Math.max(0, Math.floor((at - startAt) / sliceMs)));
    const slice = slices[index];
    if (slice === undefined) throw new RangeError('a run has at least one slice');
    return slice;
  };
  const streamOf = (name: string): StreamFigures => entry(streams, name, newStream);

  return {
    request({ operation, intendedAt, sentAt, answeredAt, outcome }: MeasuredRequest): void {
      const isFailure = FAILURE_CLASSES.has(outcome.class);
      const isLimited = outcome.class === 'limited';
      // A timeout counts with the time waited; an immediate refusal would make the service look fast.
      const tellsLatency = !(isFailure || isLimited) || outcome.code === 'timeout';
      const slice = sliceAt(intendedAt);
      slice.requests++;
      if (isFailure) slice.failed++;
      if (isLimited) slice.limited++;
      if (tellsLatency)
        entry(slice.latency, operation, () => new Histogram()).record(answeredAt - intendedAt);

      const figures = entry(operations, operation, newOperation);
      if (isInTime(answeredAt)) figures.answeredInTime++;
      if (!counts(intendedAt)) return;
      answers.request({ operation, outcome });
      figures.requests++;
      if (outcome.class === 'success') figures.succeeded++;
      if (outcome.class === 'expected') figures.expected++;
      if (isLimited) figures.limited++;
      if (isFailure) figures.failed++;
      if (!tellsLatency) return;
      figures.latency.record(answeredAt - intendedAt);
      figures.response.record(answeredAt - sentAt);
    },
    sent(stream: string, intendedAt: number, lagMs: number): void {
      sliceAt(intendedAt).arrivals++;
      if (!counts(intendedAt)) return;
      const figures = streamOf(stream);
      figures.arrivals++;
      if (intendedAt > halfAt) figures.sentSinceHalf++;
      lag.record(lagMs);
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
      const figures = streamOf(stream);
      if (succeeded) sliceAt(endedAt).completed++;
      if (succeeded && isInTime(endedAt)) figures.completedInTime++;
      if (intendedAt <= halfAt && endedAt > halfAt) figures.underWayAtHalf++;
      if (endedAt > arrivalsEndAt()) figures.underWayAtEnd++;
      if (!counts(intendedAt)) return;
      if (!succeeded) figures.failed++;
      else {
        figures.completed++;
        figures.latency.record(endedAt - intendedAt);
      }
    },
    operations: operations as ReadonlyMap<string, OperationFigures>,
    streams: streams as ReadonlyMap<string, StreamFigures>,
    errors: () => answers.counts().errors,
    slices: slices as readonly Slice[],
    lag,
  };
}

export type Recorder = ReturnType<typeof createRecorder>;

const newOperation = () => ({
  latency: new Histogram(),
  response: new Histogram(),
  requests: 0,
  /** Answered during the measured time, including requests from the warm-up. */
  answeredInTime: 0,
  succeeded: 0,
  expected: 0,
  limited: 0,
  failed: 0,
});
export type OperationFigures = ReturnType<typeof newOperation>;

const newStream = () => ({
  arrivals: 0,
  notSent: 0,
  sentSinceHalf: 0,
  completed: 0,
  /**
   * Completed during the measured time, including callers from the warm-up: throughput counts all completions in that
   * time.
   */
  completedInTime: 0,
  failed: 0,
  /** Including callers from the warm-up, because they occupy the service too. */
  underWayAtHalf: 0,
  underWayAtEnd: 0,
  /** From a caller's arrival to the end of its journey. */
  latency: new Histogram(),
});
export type StreamFigures = ReturnType<typeof newStream>;

const newSlice = () => ({
  arrivals: 0,
  notSent: 0,
  completed: 0,
  requests: 0,
  failed: 0,
  limited: 0,
  latency: new Map<string, Histogram>(),
});
type Slice = ReturnType<typeof newSlice>;

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
