import {
  type Asset,
  AssetFailed,
  type Delivery,
  type LipSync,
  PreparationFailed,
  type PreparationRecord,
  RenderCancelled,
  RenderFailed,
  type RenderRecord,
} from '@lipsync/client';
import { CommandError } from '../failures/exit-codes';
import { kindOf } from '../ids';

/** What an id names. */
export type Resource = RenderRecord | PreparationRecord | Asset | Delivery;
/** What ends without further calls. */
type Awaited = RenderRecord | PreparationRecord | Asset;

export function fetchResource(id: string, client: LipSync, signal: AbortSignal): Promise<Resource> {
  switch (kindOf(id)) {
    case 'render':
      return client.renders.get(id, { signal });
    case 'preparation':
      return client.preparations.get(id, { signal });
    case 'asset':
      return client.assets.get(id, { signal });
    case 'event':
      return client.webhooks.get(id, { signal });
  }
}

interface FollowOptions {
  signal: AbortSignal;
  timeoutMs?: number | undefined;
  /** Called with the first state and with every changed one. */
  onState?: (state: Awaited) => void;
}

/**
 * Resolves to the last state, whether it is a success or a failure.
 * @throws TimeoutError; CommandError for an event, which has no end that could be waited for
 */
export async function endOf(
  id: string,
  client: LipSync,
  { onState, ...options }: FollowOptions,
): Promise<Awaited> {
  let last: Awaited | undefined;
  for await (last of statesOf(id, client, options)) onState?.(last);
  if (last === undefined) throw new Error('there was nothing to wait for');
  return last;
}

function statesOf(
  id: string,
  client: LipSync,
  options: Omit<FollowOptions, 'onState'>,
): AsyncIterable<Awaited> {
  switch (kindOf(id)) {
    case 'render':
      return client.renders.watch(id, options);
    case 'preparation':
      return client.preparations.watch(id, options);
    case 'asset':
      return client.assets.watch(id, options);
    case 'event':
      throw new CommandError(
        'The command cannot wait for the delivery of a webhook.',
        'usage',
        `Ask for the status of ${id}, again later if need be.`,
      );
  }
}

/** @throws RenderFailed, RenderCancelled, PreparationFailed, AssetFailed */
export function throwIfUnsuccessful(resource: Awaited): void {
  const { status } = resource;
  if ('engines' in resource) {
    if (status === 'failed') throw new RenderFailed(resource);
    if (status === 'cancelled') throw new RenderCancelled(resource);
  } else if (status === 'failed') {
    if ('video_asset_id' in resource) throw new PreparationFailed(resource);
    throw new AssetFailed(resource);
  }
}
