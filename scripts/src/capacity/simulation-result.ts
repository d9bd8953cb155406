/** One job as it went, in simulated seconds. */
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
  /** When the first of its engines began. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface PoolUse {
  /** What is paid for: from the order of a pod to its end. */
  readonly podSeconds: number;
  /** Slots that could have worked. */
  readonly liveSlotSeconds: number;
  readonly busySlotSeconds: number;
  readonly podsMax: number;
  /** Jobs that a pod was told to leave before they ended, and that began anew elsewhere. */
  readonly handedOver: number;
}

export interface SimulationResult {
  readonly jobs: readonly JobTrace[];
  readonly renders: readonly RenderTrace[];
  readonly pools: ReadonlyMap<string, PoolUse>;
  /** Time-average of the jobs that wait, by queue. */
  readonly meanWaiting: ReadonlyMap<string, number>;
  readonly endedAt: number;
}
