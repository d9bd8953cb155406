import {
  type EngineRunRow,
  PREPARATION_STAGES,
  preparationProgress,
  type PreparationRow,
  type PreparationWorkStage,
  RECORD_STATES,
  RENDER_STAGES,
  renderProgress,
  type RenderRow,
  type RenderWorkStage,
} from '@lipsync/domain';
import { type Tx } from '../postgres/db';

/** The stage and progress that a render should have reached. */
interface RenderStep {
  stage: RenderWorkStage | 'queued';
  progress: number;
  enginesChanged?: boolean;
}

/**
 * Advances an open render: marks it as processing and raises its stage and progress. Progress never falls, and the
 * stage only back to `queued`, for work that waits for a slot. The caller holds the row's lock. Writes nothing if
 * nothing changes, engines included, so that `updated_at` changes only with the render.
 */
export async function advanceRender(tx: Tx, render: RenderRow, step: RenderStep, now: Date): Promise<void> {
  const { stage, progress, enginesChanged = false } = step;
  const moved = moveOf(render, RENDER_STAGES, stage, progress);
  if (moved === null && !enginesChanged) return;
  const where = { id: render.id, status: { in: [...RECORD_STATES.open] } };
  await tx.render.updateMany({ where, data: { ...moved, updatedAt: now } });
}

/** The same for a preparation. `fraction` is how much of the stage is done. */
export async function advancePreparation(
  tx: Tx,
  preparation: PreparationRow,
  stage: PreparationWorkStage | 'queued',
  fraction: number,
  now: Date,
): Promise<void> {
  const moved = moveOf(preparation, PREPARATION_STAGES, stage, preparationProgress(stage, fraction));
  if (moved === null) return;
  const where = { id: preparation.id, status: { in: [...RECORD_STATES.open] } };
  await tx.preparation.updateMany({ where, data: { ...moved, updatedAt: now } });
}

/** Null when nothing changes. */
function moveOf(
  row: RenderRow | PreparationRow,
  stages: readonly string[],
  reached: string,
  progress: number,
): { status: string; stage: string; progressPercent: number } | null {
  const isLater = stages.indexOf(reached) > stages.indexOf(row.stage);
  const stage = isLater || reached === 'queued' ? reached : row.stage;
  const progressPercent = Math.max(row.progressPercent, progress);
  const isUnchanged =
    row.status === 'processing' && row.stage === stage && row.progressPercent === progressPercent;
  return isUnchanged ? null : { status: 'processing', stage, progressPercent };
}

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
  await advanceRender(tx, render, { stage, progress, enginesChanged }, now);
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
