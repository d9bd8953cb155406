import { isPublicAddress } from '@lipsync/domain';
import { type NodeEnv } from '../shared-settings';
import { type Download, download, type DownloadOptions } from './download';
import { createKeptConnections } from './kept-connections';
import { type EgressPolicy } from './policy';
import { post, type PostOptions, type PostResponse } from './post';
import { createResolver } from './resolver';
import { type EgressRoutes } from './routes';

export { type Download, type DownloadOptions } from './download';
export { type PostOptions, type PostResponse } from './post';

/** The only client for URLs from customers: https to vetted public addresses. */
export interface Egress {
  download(url: string, options: DownloadOptions): Promise<Download>;
  post(url: string, options: PostOptions): Promise<PostResponse>;
  /** Closes the connections that are kept for reuse. */
  close(): void;
}

export interface EgressOptions {
  nodeEnv: NodeEnv;
  /** `https-443` for media; webhooks may use any port. */
  allowedPorts: 'https-443' | 'any';
  /** Development only: destinations that are connected to on loopback instead. */
  routes?: EgressRoutes;
  /** Development only: PEM of the CA of the routed destinations. */
  ca?: string;
  connectTimeoutMs?: number;
}

/** For name resolution, TCP and TLS together. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** @throws Error if development routes or an extra CA are configured in production */
export function createEgress(options: EgressOptions): Egress {
  const routes: EgressRoutes = options.routes ?? new Map();
  if (options.nodeEnv === 'production' && (routes.size > 0 || options.ca !== undefined)) {
    throw new Error('egress routes and an extra authority are for development: refused in production');
  }
  return egressUnder({
    allowedPorts: options.allowedPorts,
    resolve: createResolver(),
    isAllowedAddress: isPublicAddress,
    routes,
    ca: options.ca,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
  });
}

/** The client under an explicit policy. Production code uses `createEgress`. */
export function egressUnder(policy: EgressPolicy): Egress {
  const kept = createKeptConnections();
  return {
    download: (url, options) => download(policy, url, options),
    post: (url, options) => post({ policy, kept }, url, options),
    close: () => kept.close(),
  };
}
