import { type Usage } from '@lipsync/contract';
import { RECORD_STATES } from '@lipsync/domain';
import { type Db } from '../src';

/** The usage that must be there by what the runs of this render show, and the usage that is there; by id. */
export async function usageAndRuns(db: Db, renderId: string) {
  const ofThem = { where: { renderId }, orderBy: { id: 'asc' } } as const;
  const runs = await db.prisma.engineRun.findMany(ofThem);
  const expected = runs
    .filter(({ status }) => RECORD_STATES.isTerminal(RECORD_STATES.parse(status)))
    .map((run) => {
      const measured = run.usage as Usage; // a JSON column
      return {
        id: run.id,
        renderId: run.renderId,
        customerId: run.customerId,
        engine: run.engine,
        outcome: run.status,
        finishedAt: run.updatedAt,
        inputVideoSeconds: measured.input_video_seconds ?? null,
        inputAudioSeconds: measured.input_audio_seconds ?? null,
        outputSeconds: measured.output_seconds ?? null,
        frames: measured.rendered_frames ?? null,
        gpuSeconds: measured.gpu_inference_seconds ?? null,
        costUsd: measured.estimated_compute_usd ?? null,
      };
    });
  return { expected, actual: await db.prisma.runUsage.findMany(ofThem) };
}
