import { type EgressRoutes } from './routes';
import { type ResolveAddresses } from './resolver';

/** Everything that decides where the client may connect. */
export interface EgressPolicy {
  allowedPorts: 'https-443' | 'any';
  resolve: ResolveAddresses;
  isAllowedAddress(address: string): boolean;
  routes: EgressRoutes;
  /** PEM of an extra authority, trusted for routed destinations only. */
  ca: string | undefined;
  /** Name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
}
