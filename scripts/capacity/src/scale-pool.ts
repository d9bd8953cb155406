import { createAutoscaler } from './autoscaler';
import { type EventQueue } from './event-queue';
import { type WorkerPool } from './worker-pool';

/** Gives a pool its fixed number of pods, or runs an autoscaler on its queues until the simulation ends. */
export function scalePool(pool: WorkerPool, events: EventQueue, isOver: () => boolean): void {
  const { pods, slotsPerPod } = pool.settings;
  if (typeof pods === 'number') {
    pool.resize(pods, { startSeconds: 0, graceSeconds: 0 });
    return;
  }
  const autoscaler = createAutoscaler(pods, slotsPerPod);
  pool.resize(pods.minPods, { startSeconds: 0, graceSeconds: 0 });
  const decide = (): void => {
    const now = events.now();
    const backlogs = pool.queues.map((queue) => queue.backlog(now, pool.liveSince));
    const sum = (of: 'waiting' | 'startable' | 'running'): number =>
      backlogs.reduce((total, each) => total + each[of], 0);
    const oldestSeconds = Math.max(...backlogs.map((each) => each.oldestSeconds));
    const wanted = autoscaler.decide(now, pool.ordered, {
      ...{ waiting: sum('waiting'), startable: sum('startable'), running: sum('running') },
      oldestSeconds,
    });
    pool.resize(wanted, pods);
    if (!isOver()) events.at(now + pods.pollSeconds, decide);
  };
  events.at(0, decide);
}
