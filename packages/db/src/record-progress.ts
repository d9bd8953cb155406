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
import { type Tx } from './db';

/**
 * Moves an open render forward: it is processing from now on, its stage and progress only ever rise. The caller holds
 * the row's lock. Writes nothing when nothing changes, its engines included, so that `updated_at` tells the truth.
 */
export async function advanceRender(
  tx: Tx,
  render: RenderRow,
  step: { stage: RenderWorkStage; progress: number; enginesChanged?: boolean },
  now: Date,
): Promise<void> {
  const stage = later(RENDER_STAGES, render.stage, step.stage);
  const progressPercent = Math.max(render.progressPercent, step.progress);
  if (step.enginesChanged !== true && isUnchanged(render, stage, progressPercent)) return;
  await tx.render.updateMany({
    where: { id: render.id, status: { in: [...RECORD_STATES.open] } },
    data: { status: 'processing', stage, progressPercent, updatedAt: now },
  });
}

/** The same for a preparation. `fraction` of its stage is done. */
export async function advancePreparation(
  tx: Tx,
  preparation: PreparationRow,
  step: { stage: PreparationWorkStage; fraction: number },
  now: Date,
): Promise<void> {
  const stage = later(PREPARATION_STAGES, preparation.stage, step.stage);
  const progress = preparationProgress(step.stage, step.fraction);
  const progressPercent = Math.max(preparation.progressPercent, progress);
  if (isUnchanged(preparation, stage, progressPercent)) return;
  await tx.preparation.updateMany({
    where: { id: preparation.id, status: { in: [...RECORD_STATES.open] } },
    data: { status: 'processing', stage, progressPercent, updatedAt: now },
  });
}

function isUnchanged(row: RenderRow | PreparationRow, stage: string, progressPercent: number): boolean {
  return row.status === 'processing' && row.stage === stage && row.progressPercent === progressPercent;
}

function later(stages: readonly string[], present: string, next: string): string {
  return stages.indexOf(next) > stages.indexOf(present) ? next : present;
}
