/** The times of one job, in simulated seconds. */
export interface JobTrace {
  readonly render: number;
  readonly queue: string;
  readonly customer: string;
  readonly availableAt: number;
  readonly claimedAt: number;
  readonly endedAt: number;
}

export interface RenderTrace {
  readonly render: number;
  readonly customer: string;
  readonly createdAt: number;
  /** When its media were ready. */
  readonly readyAt: number;
  /** When its first engine began. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface PoolUse {
  /** The paid time: from the order of a pod to its end. */
  readonly podSeconds: number;
  /** Total time for which slots were available. */
  readonly liveSlotSeconds: number;
  readonly busySlotSeconds: number;
  readonly podsMax: number;
  /** Jobs that a leaving pod handed over before they ended, and that started again elsewhere. */
  readonly handedOver: number;
}

export interface SimulationResult {
  readonly jobs: readonly JobTrace[];
  readonly renders: readonly RenderTrace[];
  readonly pools: ReadonlyMap<string, PoolUse>;
  /** Time-averaged number of waiting jobs, by queue. */
  readonly meanWaiting: ReadonlyMap<string, number>;
  readonly endedAt: number;
}
