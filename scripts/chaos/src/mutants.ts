import { readFileSync } from 'node:fs';
import path from 'node:path';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';
import type { FaultName } from './faults';
import type { Edit } from './inject';
import type { InvariantName } from './invariants';

/** A service without one of its protections, made by replacing text of compiled files as they are loaded. */
export interface Mutant {
  name: string;
  edits: Edit[];
  /** The invariant that must fail. */
  caughtBy: InvariantName;
  /** Faults that bring the missing protection to light, repeated for the whole run. */
  faults: FaultName[];
}

const edit = (part: string, file: string, find: string, replace: string): Edit => ({
  file: path.join(REPOSITORY_ROOT, part, 'dist', file),
  find,
  replace,
});
const db = (file: string, find: string, replace: string): Edit => edit('packages/db', file, find, replace);
const NO_EXPIRED_LEASES = db(
  'maintenance/overdue.js',
  "status = 'running' AND lease_until < clock_timestamp()",
  'false',
);

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no-fence',
    edits: [
      db('jobs/job.js', 'job.fence === lease.fence', 'true'),
      db('jobs/heartbeat.js', 'AND fence = ${lease.fence}::int', ''),
      // A worker also gives up by its own clock, so that its writes rarely meet the fence.
      edit('packages/worker', 'lease-keeper.js', "lose('expired');", ';'),
    ],
    caughtBy: 'results come from the last claim',
    faults: ['worker paused'],
  },
  {
    name: 'no-reconciler',
    edits: [
      NO_EXPIRED_LEASES,
      db('queue/enqueue.js', "status = 'queued' AND enqueued_at <", 'false AND enqueued_at <'),
    ],
    caughtBy: 'nothing is abandoned',
    faults: ['redis flushed'],
  },
  {
    name: 'no-expiry',
    edits: [NO_EXPIRED_LEASES, db('jobs/claim.js', 'job.leaseUntil < now', 'false')],
    caughtBy: 'leases expire',
    faults: ['worker killed'],
  },
  {
    name: 'event-outside-transaction',
    edits: [db('webhooks/webhook-events.js', 'tx.webhookEvent.create(', 'db.prisma.webhookEvent.create(')],
    caughtBy: 'an end and its event are one transaction',
    faults: [],
  },
  {
    name: 'erasure-forgets-outputs',
    edits: [db('erasure/erasure-pages.js', 'runs.map(({ id }) => prefixes.outputPrefix(id))', '[]')],
    caughtBy: 'nothing is left of whom is erased',
    faults: [],
  },
  {
    name: 'key-not-bound',
    edits: [db('renders/create-render.js', 'const boundTo = idempotency &&', 'const boundTo = null &&')],
    caughtBy: 'one key, one record',
    faults: [],
  },
  {
    name: 'cancel-leaves-jobs',
    edits: [
      db(
        'jobs/end-records.js',
        'await (0, job_1.finishJobs)(tx, jobIds,',
        'if (failure !== null) await (0, job_1.finishJobs)(tx, jobIds,',
      ),
    ],
    caughtBy: 'jobs end with their record',
    faults: [],
  },
  {
    name: 'usage-after-end',
    edits: [
      db('jobs/complete.js', 'usage: usageColumn(result.usage),', ''),
      db(
        'jobs/complete.js',
        'await (0, end_records_1.settleRender)(db, tx,',
        'await tx.engineRun.update({ where: { id: subject.run.id }, data: { usage: usageColumn(result.usage) } });\nawait (0, end_records_1.settleRender)(db, tx,',
      ),
    ],
    caughtBy: 'usage is what the record shows',
    faults: [],
  },
  {
    name: 'settled-before-sent',
    edits: [
      edit(
        'services/webhook-dispatcher',
        'dispatcher.js',
        'const { outcome, error } = await',
        "await settle(delivery, { kind: 'delivered', httpStatus: 200 });\nconst { outcome, error } = await",
      ),
    ],
    caughtBy: 'delivered means answered with success',
    faults: ['dispatcher killed'],
  },
];

/** @throws Error when the compiled service does not contain what a mutant replaces */
export function checkMutant({ name, edits }: Mutant): void {
  for (const { file, find } of edits)
    if (readFileSync(file, 'utf8').split(find).length !== 2)
      throw new Error(`mutant ${name}: ${file} does not contain once: ${find}`);
}
