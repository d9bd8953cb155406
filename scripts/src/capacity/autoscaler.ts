/** A pool's ScaledObject as the chart writes it (deploy/helm/lipsync/templates/scaling.yaml). */
export interface AutoscalerSettings {
  readonly minPods: number;
  readonly maxPods: number;
  /** `jobsPerReplica`: jobs that wait for each pod; a job that runs counts as the share of a pod that it occupies. */
  readonly jobsPerPod: number;
  /** A pod more for each time that the oldest job has waited so long. */
  readonly oldestSeconds: number;
  /** How often KEDA asks, and the HPA decides. */
  readonly pollSeconds: number;
  readonly upPerMinute: number;
  /** The last pod goes, and the HPA takes one away, when fewer were enough for so long. */
  readonly cooldownSeconds: number;
  /** From the order of a pod to its first claim: node, image, packs. */
  readonly startSeconds: number;
  /** How long a pod that must go may finish its jobs; then they are handed over. */
  readonly graceSeconds: number;
}

export interface Backlog {
  readonly waiting: number;
  /** Those of them that could start if there were a slot; their customers run fewer jobs than they may. */
  readonly startable: number;
  readonly running: number;
  /** How long the oldest of the startable ones has waited while a pod was there. */
  readonly oldestSeconds: number;
}

export interface Autoscaler {
  /** How many pods there shall be from now on. */
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
      // From none KEDA itself starts the first pod; the HPA takes over from one on.
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
