import { readFileSync } from 'node:fs';
import { type NodeEnv } from '../shared-settings';
import { createEgress, type Egress, type EgressOptions } from './egress';
import { type EgressRoutes } from './routes';

/** The settings that decide what a process may reach. */
export interface EgressEnv {
  readonly NODE_ENV: NodeEnv;
  readonly EGRESS_ROUTES: EgressRoutes;
  readonly EGRESS_CA_FILE?: string | undefined;
}

/** The client under the environment's rules. Throws like `createEgress`, and if the CA cannot be read. */
export function openEgress(env: EgressEnv, allowedPorts: EgressOptions['allowedPorts']): Egress {
  return createEgress({
    nodeEnv: env.NODE_ENV,
    allowedPorts,
    routes: env.EGRESS_ROUTES,
    ...(env.EGRESS_CA_FILE === undefined ? {} : { ca: readFileSync(env.EGRESS_CA_FILE, 'utf8') }),
  });
}
