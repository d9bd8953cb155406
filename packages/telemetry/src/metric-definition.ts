export const SERVICES = ['api', 'media-worker', 'gpu-worker', 'webhook-dispatcher'] as const;
export type ServiceName = (typeof SERVICES)[number];

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The values that each label can have: what is written with another value does not compile. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  readonly services: readonly ServiceName[];
  /** Upper bounds, for a histogram. */
  readonly buckets?: readonly number[];
  /** Told with 0 for every combination of labels from the start: the first increase is seen as one. */
  readonly fromZero?: true;
}
