import { type ResolveAddresses } from './resolver';
import { type EgressRoutes } from './routes';

/** Everything that decides where the client may connect. */
export interface EgressPolicy {
  allowedPorts: 'https-443' | 'any';
  resolve: ResolveAddresses;
  isAllowedAddress(address: string): boolean;
  routes: EgressRoutes;
  /** PEM of the CA of routed destinations. It is trusted there in place of the public ones, and nowhere else. */
  ca: string | undefined;
  /** Limit of name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
}
