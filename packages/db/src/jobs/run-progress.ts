import {
  type EngineRunRow,
  RECORD_STATES,
  renderProgress,
  type RenderRow,
  type RenderWorkStage,
} from '@lipsync/domain';
import { type Tx } from '../postgres/db';
import { advanceRenders } from './progress';

/**
 * Derives the stage and progress of a locked render from its engine runs. A render shows its runs, so if a run was
 * changed `now`, the render counts as changed as well.
 */
export async function advanceRenderByRuns(
  tx: Tx,
  render: RenderRow,
  now: Date,
  preparing: { fraction: number } | null = null,
): Promise<void> {
  const runs = await tx.engineRun.findMany({ where: { renderId: render.id } });
  const stage = stageOf(render, runs);
  const progress = renderProgress({
    // Between two engines, what the first has done counts.
    stage: stage === 'queued' && runs.some(hasBegun) ? 'rendering' : stage,
    prepareFraction: preparing?.fraction ?? 0,
    engines: runs.map((run) => ({ status: RECORD_STATES.parse(run.status), progress: run.progressPercent })),
  });
  const enginesChanged = runs.some((run) => run.updatedAt.getTime() === now.getTime());
  await advanceRenders(tx, [{ render, stage, progress, enginesChanged }], now);
}

function stageOf(render: RenderRow, runs: readonly EngineRunRow[]): RenderWorkStage | 'queued' {
  const open = runs.filter((run) => !RECORD_STATES.isTerminal(RECORD_STATES.parse(run.status)));
  if (open.length > 0 && open.every((run) => run.stage === 'queued')) return 'queued';
  if (open.length > 0 && open.every((run) => run.stage === 'uploading')) return 'finalizing';
  // Until the first engine has begun to render, the analysis takes the time, unless a preparation provided it.
  return runs.some(hasBegun) || render.preparationId !== null ? 'rendering' : 'preparing';
}

function hasBegun(run: EngineRunRow): boolean {
  return run.stage !== 'queued' && run.stage !== 'loading_model';
}
