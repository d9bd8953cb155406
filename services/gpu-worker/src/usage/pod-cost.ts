/** What a provider says about the time of this pod between two moments. */
export interface PodBill {
  /** Seconds within the window for which the provider saw the pod run. */
  readonly observedSeconds: number;
  /** Seconds that are charged for it, e.g. rounded up to a billing increment. */
  readonly billedSeconds: number;
  /** The charge in US dollars; null where the provider knows times and no prices. */
  readonly usd: number | null;
}

/** Where this pod's cost comes from. */
export interface PodCost {
  /** The bill for a stretch of this pod's life; null while the provider knows nothing about it. May reject. */
  bill(from: Date, to: Date): Promise<PodBill | null>;
}
