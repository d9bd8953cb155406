import { type LipSync, type RenderRecord } from '@lipsync/client';
import { useEffect, useState } from 'preact/hooks';
import { isOpen } from '../history/render-state';

/**
 * Follows a render until it ends. Without a `client` it waits, and continues with the next one. Another `attempt` tries
 * again. `onError` gets the error that makes following impossible.
 */
export function useRender(
  client: LipSync | null,
  id: string,
  attempt: number,
  onError: (error: unknown) => void,
): [RenderRecord | null, (record: RenderRecord | null) => void] {
  const [record, setRecord] = useState<RenderRecord | null>(null);
  useEffect(() => {
    if (client === null) return undefined;
    const controller = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const state of client.renders.watch(id, { signal: controller.signal }))
        // An answer from before a cancellation may arrive after it.
        setRecord((now) => (now?.id === id && !isOpen(now) && isOpen(state) ? now : state));
    };
    follow().catch((error: unknown) => {
      if (!controller.signal.aborted) onError(error);
    });
    return () => controller.abort();
  }, [client, id, attempt]);
  return [record?.id === id ? record : null, setRecord];
}
