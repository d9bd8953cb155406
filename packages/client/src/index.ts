import { Client } from './client';
import { nodePlatform } from './node';
import { type LipSyncOptions } from './transport';

export * from './exports';

/** The service, as one customer sees it. */
export class LipSync extends Client {
  constructor(options: LipSyncOptions = {}) {
    super(options, nodePlatform);
  }
}
