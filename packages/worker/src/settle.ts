import { type Claim, type Db, failJob, releaseJob, retryJob } from '@lipsync/db';
import { postponementSeconds, retryDelaySeconds } from '@lipsync/domain';
import { type Verdict } from './verdict';

/** What became of a job that did not complete; `lost`: it was not ours any more when the database was told. */
export type Settlement = 'dropped' | 'released' | 'requeued' | 'failed' | 'lost';

/** Tells the database how a claimed job ended. Rejects when it cannot be told. */
export async function settle(db: Db, claim: Claim, verdict: Verdict): Promise<Settlement> {
  switch (verdict.kind) {
    case 'drop':
      return 'dropped';
    case 'release':
      return (await releaseJob(db, claim)) ? 'released' : 'lost';
    case 'retry': {
      const delaySeconds = retryDelaySeconds(claim.attempt, Math.random());
      return retryJob(db, claim, { errorCode: verdict.code, delaySeconds, refundAttempt: false });
    }
    case 'postpone': {
      const delaySeconds = postponementSeconds(Math.random());
      return retryJob(db, claim, { errorCode: verdict.code, delaySeconds, refundAttempt: true });
    }
    case 'fail':
      return (await failJob(db, claim, verdict.code)) ? 'failed' : 'lost';
  }
}
