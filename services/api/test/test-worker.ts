import { type ErrorCode } from '@lipsync/contract';
import {
  type Claim,
  claimJob,
  completeAnalyze,
  completeIngest,
  completeRender,
  type Db,
  failJob,
} from '@lipsync/db';
import { outputKey } from '@lipsync/storage';

/** The usage that a completed run shows; the workers' own tests cover the rest. */
const USAGE = { output_seconds: 2, rendered_frames: 50 };

/** Drives jobs through the same protocol as real workers, without doing their work. */
export interface TestWorker {
  /** The asset becomes ready, with this content, or failed. */
  ingest(assetId: string, outcome?: { sha256?: string } | { failure: ErrorCode }): Promise<void>;
  /** The preparation becomes completed or failed. */
  analyze(preparationId: string, outcome?: { failure: ErrorCode }): Promise<void>;
  /** The preparation or render is being worked on. */
  begin(subject: { preparationId: string } | { renderId: string }): Promise<Claim>;
  /** The render's only open engine run becomes completed or failed. Returns the key of its output. */
  render(renderId: string, outcome?: { failure: ErrorCode }): Promise<string>;
}

export function createTestWorker(db: Db): TestWorker {
  async function claim(
    where: { assetId: string } | { preparationId: string } | { engineRunId: string },
  ): Promise<Claim> {
    const job = await db.prisma.job.findUniqueOrThrow({ where });
    const claimed = await claimJob(db, job.id, { workerId: 'test-worker', leaseSeconds: 60 });
    if (claimed === null) throw new Error(`the job is ${job.status}`);
    return claimed;
  }
  async function claimRun(renderId: string): Promise<{ claim: Claim; runId: string }> {
    const run = await db.prisma.engineRun.findFirstOrThrow({
      where: { renderId, status: { in: ['accepted', 'processing'] } },
    });
    return { runId: run.id, claim: await claim({ engineRunId: run.id }) };
  }
  return {
    ingest: async (assetId, outcome = {}) => {
      const lease = await claim({ assetId });
      if ('failure' in outcome) return done(failJob(db, lease, outcome.failure));
      const media = {
        objectKey: `assets/${assetId}/nonce`,
        sha256: outcome.sha256 ?? 'ab'.repeat(32),
        sizeBytes: 1000,
        contentType: 'video/mp4',
        durationSeconds: 2,
        codec: 'h264',
        width: 640,
        height: 360,
        frames: 50,
        fps: 25,
        stream: {},
      };
      return done(completeIngest(db, lease, media));
    },
    analyze: async (preparationId, outcome) => {
      const lease = await claim({ preparationId });
      if (outcome !== undefined) return done(failJob(db, lease, outcome.failure));
      const analysis = {
        version: '1',
        analyzerVersion: 'test',
        frames: 50,
        fps: 25,
        width: 640,
        height: 360,
        durationSeconds: 2,
      };
      return done(completeAnalyze(db, lease, analysis));
    },
    begin: async (subject) =>
      'preparationId' in subject ? claim(subject) : (await claimRun(subject.renderId)).claim,
    render: async (renderId, outcome) => {
      const { runId, claim: lease } = await claimRun(renderId);
      const key = outputKey(runId, lease.fence);
      if (outcome !== undefined) await done(failJob(db, lease, outcome.failure));
      else await done(completeRender(db, lease, { outputKey: key, usage: USAGE }));
      return key;
    },
  };
}

async function done(result: Promise<boolean>): Promise<void> {
  if (!(await result)) throw new Error('the claim was lost');
}
