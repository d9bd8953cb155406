/** A job that waits for admission. */
export interface WaitingJob {
  readonly id: string;
  readonly customer: string;
  /** Orders the jobs of one customer. */
  readonly createdAt: number;
  /** Breaks ties between customers with an equal turn. */
  readonly availableAt: number;
}

export interface AdmissionRequest<Job extends WaitingJob> {
  /** By customer, each list in order of creation. */
  readonly waiting: ReadonlyMap<string, readonly Job[]>;
  /** Maximum number of jobs to admit. */
  readonly free: number;
  /** Dispatched and running jobs of a customer in this queue. */
  readonly here: (customer: string) => number;
  /** Dispatched and running jobs of a customer that count towards its cap: GPU jobs in all queues, or ingests. */
  readonly counted: (customer: string) => number;
  /** The cap of every customer. */
  readonly cap: number;
}

/**
 * Mirrors the choice that the service's admission makes (packages/db, admitJobs): round-robin over the customers,
 * starting with the one that has the fewest jobs in progress in this queue, none beyond its cap. A test compares it
 * with the SQL.
 */
export function chooseAdmissions<Job extends WaitingJob>(request: AdmissionRequest<Job>): Job[] {
  const { waiting, here, counted, cap } = request;
  const lines = [...waiting].map(([customer, jobs]) => ({
    jobs,
    next: 0,
    here: here(customer),
    admissible: Math.min(jobs.length, Math.max(0, cap - counted(customer))),
  }));
  const chosen: Job[] = [];
  while (chosen.length < request.free) {
    let best: { line: (typeof lines)[number]; job: Job; turn: number } | undefined;
    for (const line of lines) {
      const job = line.jobs[line.next];
      if (job === undefined || line.next >= line.admissible) continue;
      const turn = line.next + 1 + line.here;
      if (best === undefined || comesBefore({ job, turn }, best)) best = { line, job, turn };
    }
    if (best === undefined) break;
    best.line.next += 1;
    chosen.push(best.job);
  }
  return chosen;
}

function comesBefore(a: { job: WaitingJob; turn: number }, b: { job: WaitingJob; turn: number }): boolean {
  if (a.turn !== b.turn) return a.turn < b.turn;
  if (a.job.availableAt !== b.job.availableAt) return a.job.availableAt < b.job.availableAt;
  return a.job.id < b.job.id;
}
