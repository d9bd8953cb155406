import { measureApi } from './control-plane/api-figures';
import { openWorld } from './control-plane/world';

export async function benchControlPlane() {
  const world = await openWorld();
  try {
    return await measureApi(world);
  } finally {
    await world.close();
  }
}
