/** A provider's bill for this pod between two moments. */
export interface PodBill {
  /** Seconds within the window in which the provider saw the pod run. */
  readonly observedSeconds: number;
  /** Seconds that are charged, e.g. rounded up to a billing increment. */
  readonly billedSeconds: number;
  /** The charge in US dollars. */
  readonly usd: number;
}

/** A source of this pod's cost. */
export interface PodCost {
  /** The bill for a period of this pod's life; null while the provider has no data about it. May reject. */
  bill(from: Date, to: Date): Promise<PodBill | null>;
}
