import { readFileSync } from 'node:fs';
import path from 'node:path';
import { REPOSITORY_ROOT } from '../local-stack/layout';
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

const compiled = (file: string): string => path.join(REPOSITORY_ROOT, file);
const db = (file: string): string => compiled(path.join('packages/db/dist', file));
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no-fence',
    edits: [
      { file: db('jobs/lease.js'), find: 'job.fence === lease.fence', replace: 'true' },
      { file: db('jobs/heartbeat.js'), find: 'AND fence = ${lease.fence}::int', replace: '' },
      // A worker also gives up by its own clock, so that its writes rarely meet the fence.
      {
        file: compiled('packages/worker/dist/lease-keeper.js'),
        find: "lose('expired');",
        replace: ';',
      },
    ],
    caughtBy: 'results come from the last claim',
    faults: ['worker paused'],
  },
  {
    name: 'no-reconciler',
    edits: [
      {
        file: db('maintenance/expired-leases.js'),
        find: "status = 'running' AND lease_until < clock_timestamp()",
        replace: 'false',
      },
      {
        file: db('dispatch/lost-dispatches.js'),
        find: "status = 'queued' AND dispatched_at <",
        replace: 'false AND dispatched_at <',
      },
    ],
    caughtBy: 'nothing is abandoned',
    faults: ['redis flushed'],
  },
  {
    name: 'no-expiry',
    edits: [
      {
        file: db('maintenance/expired-leases.js'),
        find: "status = 'running' AND lease_until < clock_timestamp()",
        replace: 'false',
      },
      { file: db('jobs/claim.js'), find: 'job.leaseUntil < now', replace: 'false' },
    ],
    caughtBy: 'leases expire',
    faults: ['worker killed'],
  },
  {
    name: 'event-outside-transaction',
    edits: [
      {
        file: db('jobs/end-render.js'),
        find: 'insertEvents)(db, tx, announced',
        replace: 'insertEvents)(db, db.prisma, announced',
      },
    ],
    caughtBy: 'an end and its event are one transaction',
    faults: [],
  },
  {
    name: 'key-not-bound',
    edits: [
      {
        file: db('renders/render-draft.js'),
        find: 'idempotency_key: idempotency &&',
        replace: 'idempotency_key: null &&',
      },
    ],
    caughtBy: 'one key, one record',
    faults: [],
  },
  {
    name: 'cancel-leaves-jobs',
    edits: [
      {
        file: db('jobs/end-render.js'),
        find: 'await (0, lease_1.finishJobs)(tx, jobIds, errorCode);',
        replace: "if (end.status !== 'cancelled') await (0, lease_1.finishJobs)(tx, jobIds, errorCode);",
      },
    ],
    caughtBy: 'jobs end with their record',
    faults: [],
  },
  {
    name: 'settled-before-sent',
    edits: [
      {
        file: compiled('services/webhook-dispatcher/dist/dispatcher.js'),
        find: 'const { outcome, error } = await',
        replace:
          "await settle(delivery, { kind: 'delivered', httpStatus: 200 });\nconst { outcome, error } = await",
      },
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
