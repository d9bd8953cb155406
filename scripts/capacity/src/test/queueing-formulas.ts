/** A station of `servers` identical servers with `arrivalsPerSecond`, each job taking `serviceSeconds` on average. */
export interface Station {
  readonly arrivalsPerSecond: number;
  readonly serviceSeconds: number;
  readonly servers: number;
}

/** Share of time in which a server is busy; from 1 the queue grows without bound. */
export function utilisation({ arrivalsPerSecond, serviceSeconds, servers }: Station): number {
  return (arrivalsPerSecond * serviceSeconds) / servers;
}

/** Erlang C: the probability that an arrival of an M/M/c station has to wait. */
export function waitProbability(station: Station): number {
  const load = station.arrivalsPerSecond * station.serviceSeconds;
  const busy = utilisation(station);
  if (busy >= 1) return 1;
  // Erlang B by its recursion, which neither overflows nor loses precision, then C from B.
  let blocking = 1;
  for (let servers = 1; servers <= station.servers; servers++)
    blocking = (load * blocking) / (servers + load * blocking);
  return blocking / (1 - busy * (1 - blocking));
}

/** Mean wait of an M/M/c station in seconds. */
export function meanWait(station: Station): number {
  const busy = utilisation(station);
  if (busy >= 1) return Infinity;
  return (waitProbability(station) * station.serviceSeconds) / (station.servers * (1 - busy));
}

/**
 * Mean wait of an M/G/c station by the approximation of Lee and Longton (1959): the M/M/c wait, scaled by the
 * variability of the service. Exact for one server (Pollaczek and Khinchine).
 */
export function meanWaitGeneral(station: Station, serviceCv: number): number {
  return (meanWait(station) * (1 + serviceCv * serviceCv)) / 2;
}

/** The wait that a share `quantile` of the arrivals of an M/M/c station does not exceed, in seconds. */
export function waitQuantile(station: Station, quantile: number): number {
  const busy = utilisation(station);
  if (busy >= 1) return Infinity;
  const waits = waitProbability(station);
  if (1 - quantile >= waits) return 0;
  return (Math.log(waits / (1 - quantile)) * station.serviceSeconds) / (station.servers * (1 - busy));
}
