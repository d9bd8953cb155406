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

/** The stage and progress that a record should have reached. */
interface RenderStep {
  render: RenderRow;
  stage: RenderWorkStage | 'queued';
  progress: number;
  enginesChanged?: boolean;
}

interface PreparationStep {
  preparation: PreparationRow;
  stage: PreparationWorkStage | 'queued';
  /** How much of the stage is done. */
  fraction: number;
}

/**
 * Advances open renders: marks them as processing and raises their stage and progress. Progress never falls, and the
 * stage only back to `queued`, for work that waits for a slot. The caller holds the rows' locks. Writes nothing if
 * nothing changes, engines included, so that `updated_at` changes only with the render.
 */
export async function advanceRenders(tx: Tx, steps: readonly RenderStep[], now: Date): Promise<void> {
  const moves = steps.map(({ render, enginesChanged, ...step }) =>
    moveOf(render, RENDER_STAGES, step, enginesChanged === true),
  );
  for (const { ids, data } of together(moves)) {
    const where = { id: { in: ids }, status: { in: [...RECORD_STATES.open] } };
    await tx.render.updateMany({ where, data: { ...data, updatedAt: now } });
  }
}

/** Like `advanceRenders`, for preparations. */
export async function advancePreparations(
  tx: Tx,
  steps: readonly PreparationStep[],
  now: Date,
): Promise<void> {
  const moves = steps.map(({ preparation, stage, fraction }) =>
    moveOf(preparation, PREPARATION_STAGES, { stage, progress: preparationProgress(stage, fraction) }, false),
  );
  for (const { ids, data } of together(moves)) {
    const where = { id: { in: ids }, status: { in: [...RECORD_STATES.open] } };
    await tx.preparation.updateMany({ where, data: { ...data, updatedAt: now } });
  }
}

interface Move {
  id: string;
  data: { status: 'processing'; stage: string; progressPercent: number };
}

/** Null when nothing changes. */
function moveOf(
  row: RenderRow | PreparationRow,
  stages: readonly string[],
  step: { stage: string; progress: number },
  always: boolean,
): Move | null {
  const isLater = stages.indexOf(step.stage) > stages.indexOf(row.stage);
  const stage = isLater || step.stage === 'queued' ? step.stage : row.stage;
  const progressPercent = Math.max(row.progressPercent, step.progress);
  const isUnchanged =
    row.status === 'processing' && row.stage === stage && row.progressPercent === progressPercent;
  return isUnchanged && !always
    ? null
    : { id: row.id, data: { status: 'processing', stage, progressPercent } };
}

interface CommonMove {
  ids: string[];
  data: Move['data'];
}

/**
 * Groups moves to the same place into one statement, because many renders may wait for one asset and mostly move
 * together.
 */
function together(moves: readonly (Move | null)[]): CommonMove[] {
  const common = new Map<string, CommonMove>();
  for (const move of moves) {
    if (move === null) continue;
    const place = `${move.data.stage} ${move.data.progressPercent}`;
    const known = common.get(place);
    if (known === undefined) common.set(place, { ids: [move.id], data: move.data });
    else known.ids.push(move.id);
  }
  return [...common.values()];
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
