import { type Claim, type Db, failJob, releaseJob, retryJob } from '@lipsync/db';
import { postponementSeconds, retryDelaySeconds } from '@lipsync/domain';
import { type Verdict } from './verdict';

/** The recorded end of a job that did not complete. `lost`: the claim was lost before the end could be recorded. */
export type Settlement = 'dropped' | 'released' | 'requeued' | 'failed' | 'lost';

/** Records in the database how a claimed job ended. Rejects if it cannot be recorded. */
export async function settle(db: Db, claim: Claim, verdict: Verdict): Promise<Settlement> {
  switch (verdict.kind) {
    case 'drop':
      return 'dropped';
    case 'release':
      return (await releaseJob(db, claim)) ? 'released' : 'lost';
    case 'retry': {
      const delaySeconds = retryDelaySeconds(claim.attempt, Math.random());
      const failure = { errorCode: verdict.code, errorDetail: verdict.detail ?? null };
      return retryJob(db, claim, { ...failure, delaySeconds, refundAttempt: false });
    }
    case 'postpone': {
      const delaySeconds = postponementSeconds(Math.random());
      return retryJob(db, claim, { errorCode: verdict.code, delaySeconds, refundAttempt: true });
    }
    case 'fail':
      return (await failJob(db, claim, verdict.code, verdict.detail)) ? 'failed' : 'lost';
  }
}
