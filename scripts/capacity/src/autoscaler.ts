/** A pool's ScaledObject as the chart defines it (deploy/helm/lipsync/templates/scaling.yaml). */
export interface AutoscalerSettings {
  readonly minPods: number;
  readonly maxPods: number;
  /** `jobsPerReplica`: waiting jobs per pod; a running job counts as the share of a pod that it occupies. */
  readonly jobsPerPod: number;
  /** Adds one pod for each multiple of this time that the oldest job has waited. */
  readonly oldestSeconds: number;
  /** How often KEDA polls and the HPA decides. */
  readonly pollSeconds: number;
  readonly upPerMinute: number;
  /** How long fewer pods must have been enough before the HPA removes one, or the last one goes. */
  readonly cooldownSeconds: number;
  /** Time from the order of a pod to its first claim: node, image, packs. */
  readonly startSeconds: number;
  /** How long a terminating pod may finish its jobs before they are handed over. */
  readonly graceSeconds: number;
}

export interface Backlog {
  readonly waiting: number;
  /** The part of `waiting` that could start on a free slot, because its customers are below their caps. */
  readonly startable: number;
  readonly running: number;
  /** How long the oldest startable job has waited while a pod was present. */
  readonly oldestSeconds: number;
}

export interface Autoscaler {
  /** The number of pods to have from now on. */
  readonly decide: (now: number, ordered: number, backlog: Backlog) => number;
}

const MINUTE = 60;

export function createAutoscaler(settings: AutoscalerSettings, slotsPerPod: number): Autoscaler {
  const { minPods, maxPods, jobsPerPod, oldestSeconds, upPerMinute, cooldownSeconds } = settings;
  const recommendations: { at: number; pods: number }[] = [];
  const additions: { at: number; pods: number }[] = [];
  let activeAt = -Infinity;
  let removedAt = -Infinity;

  function up(now: number, ordered: number, desired: number): number {
    while ((additions[0]?.at ?? now) <= now - MINUTE) additions.shift();
    const lately = additions.reduce((sum, { pods }) => sum + pods, 0);
    const pods = Math.min(desired - ordered, Math.max(0, upPerMinute - lately));
    additions.push({ at: now, pods });
    return ordered + pods;
  }

  function down(now: number, ordered: number): number {
    const enough = Math.max(...recommendations.map(({ pods }) => pods));
    if (enough >= ordered || now - removedAt < MINUTE) return ordered;
    removedAt = now;
    return ordered - 1;
  }

  return {
    decide: (now, ordered, backlog) => {
      const present = backlog.waiting + backlog.running;
      if (present > 0) activeAt = now;
      // KEDA itself starts the first pod; the HPA takes over from there.
      if (ordered === 0) return present > 0 ? Math.max(1, minPods) : minPods;
      const depth = (backlog.running * jobsPerPod) / slotsPerPod + backlog.startable;
      const desired = Math.min(
        maxPods,
        Math.max(minPods, 1, Math.ceil(depth / jobsPerPod), Math.ceil(backlog.oldestSeconds / oldestSeconds)),
      );
      recommendations.push({ at: now, pods: desired });
      while ((recommendations[0]?.at ?? now) < now - cooldownSeconds) recommendations.shift();
      if (desired > ordered) return up(now, ordered, desired);
      if (minPods === 0 && now - activeAt >= cooldownSeconds) return 0;
      return down(now, ordered);
    },
  };
}
