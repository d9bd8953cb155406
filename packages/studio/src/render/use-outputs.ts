import { type Engine, type LipSync, type RenderRecord } from '@lipsync/client';
import { useEffect, useState } from 'preact/hooks';

/** Result files by engine, as far as they have arrived. */
export interface Outputs {
  readonly files: ReadonlyMap<string, Blob>;
  /** 0 to 1, of all bytes. */
  readonly received: number;
  readonly done: boolean;
}

const NOTHING: Outputs = { files: new Map(), received: 0, done: false };

/**
 * Downloads the outputs of a render that has ended. Whole files, because every step to a frame is a seek: from memory
 * it takes milliseconds, and signed URLs would have expired after a quarter of an hour. `attempt` is another number
 * to try again.
 */
export function useOutputs(
  client: LipSync | null,
  record: RenderRecord | null,
  attempt: number,
  onError: (error: unknown) => void,
): Outputs {
  const [outputs, setOutputs] = useState<Outputs>(NOTHING);
  const isEnded = record !== null && ['completed', 'cancelled', 'failed'].includes(record.status);
  useEffect(() => {
    setOutputs(NOTHING);
    if (client === null || record === null || !isEnded) return undefined;
    const engines = record.engines.flatMap(({ engine, output }) => (output === undefined ? [] : [engine]));
    const controller = new AbortController();
    const { signal } = controller;
    const progress = new Map<Engine, number>();
    const fetchAll = async (): Promise<void> => {
      const files = await Promise.allSettled(
        engines.map(async (engine) => {
          const onProgress = (received: number, total: number): void => {
            progress.set(engine, total === 0 ? 0 : received / total);
            const sum = [...progress.values()].reduce((a, b) => a + b, 0);
            setOutputs((now) => ({ ...now, received: sum / engines.length }));
          };
          const file = await client.outputs.download(record, engine, undefined, { signal, onProgress });
          return [engine, new Blob([file], { type: 'video/mp4' })] as const;
        }),
      );
      if (signal.aborted) return;
      const arrived = files.flatMap((file) => (file.status === 'fulfilled' ? [file.value] : []));
      setOutputs({ files: new Map(arrived), received: 1, done: true });
      // The others are shown beside it.
      const failed = files.find((file) => file.status === 'rejected');
      if (failed !== undefined) onError(failed.reason);
    };
    void fetchAll();
    return () => controller.abort();
  }, [client, record?.id, isEnded, attempt]);
  return outputs;
}
