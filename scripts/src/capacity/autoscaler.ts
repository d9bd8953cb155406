/** A KEDA ScaledObject with a backlog metric, and the HPA that it drives. */
export interface AutoscalerSettings {
  readonly minPods: number;
  readonly maxPods: number;
  /** Jobs (waiting and running) per pod that the HPA aims at. */
  readonly jobsPerPod: number;
  /** KEDA looks this often whether a pool of none is needed. */
  readonly pollSeconds: number;
  /** From the order of a pod to its first claim: node, image, packs. */
  readonly startSeconds: number;
  /** The last pod goes when nothing was there for so long. */
  readonly cooldownSeconds: number;
  /** The HPA removes pods only when it has wanted fewer for so long. */
  readonly stabilizationSeconds: number;
  /** How long a pod that must go may finish its jobs; then they are handed over. */
  readonly graceSeconds: number;
}

/** How often the HPA decides. */
export const HPA_SYNC_SECONDS = 15;

export interface Autoscaler {
  readonly everySeconds: number;
  /** How many pods there shall be from now on. */
  decide(now: number, ordered: number, jobsPresent: number): number;
}

/** Kubernetes' rules (autoscaling/v2 defaults): up by 4 pods or 100 % per 15 s, down after the stabilization window. */
export function createAutoscaler(settings: AutoscalerSettings): Autoscaler {
  const { minPods, maxPods, jobsPerPod, pollSeconds, cooldownSeconds, stabilizationSeconds } = settings;
  const wishes: { at: number; pods: number }[] = [];
  let activeAt = -Infinity;

  return {
    everySeconds: Math.min(HPA_SYNC_SECONDS, pollSeconds),
    decide: (now, ordered, jobsPresent) => {
      if (jobsPresent > 0) activeAt = now;
      // From none KEDA itself starts the first pods; the HPA takes over from one on.
      if (ordered === 0) return jobsPresent > 0 ? Math.max(1, minPods) : minPods;
      const wish = Math.min(maxPods, Math.max(minPods, 1, Math.ceil(jobsPresent / jobsPerPod)));
      wishes.push({ at: now, pods: wish });
      while ((wishes[0]?.at ?? now) < now - stabilizationSeconds) wishes.shift();
      if (wish > ordered) return Math.min(wish, Math.max(ordered + 4, ordered * 2));
      if (minPods === 0 && now - activeAt >= cooldownSeconds) return 0;
      return Math.min(ordered, Math.max(...wishes.map(({ pods }) => pods)));
    },
  };
}
