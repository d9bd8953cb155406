import { measureApi, type OperationFigures } from './control-plane/api-figures';
import { type DeliveryFigures, measureDeliveries } from './control-plane/delivery-figures';
import { openWorld } from './control-plane/world';

export interface ControlPlaneFigures {
  api: Record<string, OperationFigures>;
  deliveries: DeliveryFigures;
}

/** One part at a time, so that each has the machine for itself. */
export async function benchControlPlane(): Promise<ControlPlaneFigures> {
  const world = await openWorld();
  try {
    const api = await measureApi(world);
    // What half a million renders left to be cleaned up and written back is none of the deliveries'.
    await world.sql.query('VACUUM (ANALYZE)');
    await world.sql.query('CHECKPOINT');
    return { api, deliveries: await measureDeliveries(world) };
  } finally {
    await world.close();
  }
}
