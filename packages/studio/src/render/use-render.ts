import { type LipSync, type RenderRecord } from '@lipsync/client';
import { useEffect, useState } from 'preact/hooks';

/** Follows a render until it ends. `onError` gets what makes that impossible. */
export function useRender(
  client: LipSync | null,
  id: string,
  onError: (error: unknown) => void,
): [RenderRecord | null, (record: RenderRecord) => void] {
  const [record, setRecord] = useState<RenderRecord | null>(null);
  useEffect(() => {
    if (client === null) return undefined;
    // Another key may belong to somebody who must not see what this one's has shown.
    setRecord(null);
    const controller = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const state of client.renders.watch(id, { signal: controller.signal })) setRecord(state);
    };
    follow().catch((error: unknown) => {
      if (!controller.signal.aborted) onError(error);
    });
    return () => controller.abort();
  }, [client, id]);
  return [record?.id === id ? record : null, setRecord];
}
