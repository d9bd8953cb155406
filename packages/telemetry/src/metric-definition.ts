export const SERVICES = ['api', 'media-worker', 'gpu-worker', 'webhook-dispatcher'] as const;
export type ServiceName = (typeof SERVICES)[number];

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The values that each label can have. Writing another value does not compile. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  readonly services: readonly ServiceName[];
  /** Upper bounds, for a histogram. */
  readonly buckets?: readonly number[];
  /** Reports 0 for every combination of labels from the start, so that the first increase is visible as one. */
  readonly fromZero?: true;
}
