import { measureApi, type OperationFigures } from './control-plane/api-figures';
import { type DeliveryFigures, measureDeliveries } from './control-plane/delivery-figures';
import { openWorld } from './control-plane/world';

interface ControlPlaneFigures {
  api: Record<string, OperationFigures>;
  deliveries: DeliveryFigures;
}

/** One part at a time, so that each has the machine to itself. */
export async function benchControlPlane(): Promise<ControlPlaneFigures> {
  const world = await openWorld();
  try {
    const api = await measureApi(world);
    // Cleaning up and writing back after half a million renders must not count towards the deliveries.
    await world.sql.query('VACUUM (ANALYZE)');
    await world.sql.query('CHECKPOINT');
    return { api, deliveries: await measureDeliveries(world) };
  } finally {
    await world.close();
  }
}
