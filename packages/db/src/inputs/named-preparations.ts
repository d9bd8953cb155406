import { type PreparationRow, type RenderRow } from '@lipsync/domain';
import { ownedLike } from '../postgres/customer-scope';
import { type Tx } from '../postgres/db';

/**
 * The preparation that each of these renders refers to; null if the render refers to none or its preparation is gone.
 */
export async function readNamedPreparations(
  tx: Tx,
  renders: readonly RenderRow[],
): Promise<(render: RenderRow) => PreparationRow | null> {
  const ids = new Set(renders.flatMap(({ preparationId }) => preparationId ?? []));
  const found =
    ids.size === 0
      ? []
      : await tx.preparation.findMany({ where: { id: { in: [...ids] }, ...ownedLike(renders) } });
  const byId = new Map(found.map((preparation) => [preparation.id, preparation]));
  return ({ preparationId }) => byId.get(preparationId ?? '') ?? null;
}
