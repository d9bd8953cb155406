import {
  type PreparationRow,
  preparationProgress,
  type PreparationWorkStage,
  PREPARATION_STAGES,
  RECORD_STATES,
  RENDER_STAGES,
  type RenderRow,
  type RenderWorkStage,
} from '@lipsync/domain';
import { type Tx } from '../postgres/db';

/** Where a record is to be by now. */
export interface RenderStep {
  render: RenderRow;
  stage: RenderWorkStage;
  progress: number;
  enginesChanged?: boolean;
}

export interface PreparationStep {
  preparation: PreparationRow;
  stage: PreparationWorkStage;
  /** Of its stage, how much is done. */
  fraction: number;
}

/**
 * Moves open renders forward: they are processing from now on, their stages and progress only ever rise. The caller holds
 * the rows' locks. Writes nothing when nothing changes, engines included, so that `updated_at` tells the truth.
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

/** The same for preparations. */
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
  const stage = stages.indexOf(step.stage) > stages.indexOf(row.stage) ? step.stage : row.stage;
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

/** Many renders may wait for one asset, and mostly move to the same place: one statement for all of those. */
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
