import path from 'node:path';
import { startInference } from '@lipsync/gpu-worker';
import { peakMemoryDuring } from './peak-memory';
import { prepareClip } from './prepared-clip';
import { renderClip } from './render-clip';

export interface MemoryFigures {
  picture: string;
  /** Peak resident memory of this process (which acts as the supervisor), of the inference process and of ffmpeg. */
  peak_mib: Record<string, number>;
  /** Peak of the longest clip divided by that of the shortest. */
  longest_over_shortest: number;
}

/** Peak memory for several clip lengths, each rendered by a new process. */
export async function benchMemory(
  ffmpeg: string,
  folder: string,
  packsDir: string,
  shape: { readonly width: number; readonly height: number; readonly grain: number },
  lengths: readonly number[],
): Promise<MemoryFigures> {
  const peaks: [seconds: number, mib: number][] = [];
  for (const seconds of lengths) {
    const clip = await withInference(packsDir, (inference) =>
      prepareClip(ffmpeg, folder, inference, { ...shape, seconds }),
    );
    const { peakBytes } = await withInference(packsDir, async (inference) => {
      const begun = renderClip(inference, clip, path.join(folder, 'memory.mp4'));
      return peakMemoryDuring(process.pid, () => begun);
    });
    peaks.push([seconds, peakBytes / 2 ** 20]);
  }
  const mib = peaks.map(([, value]) => value);
  return {
    picture: `${shape.width}x${shape.height}`,
    peak_mib: Object.fromEntries(peaks.map(([seconds, value]) => [`${seconds}s`, value])),
    longest_over_shortest: (mib[mib.length - 1] ?? NaN) / (mib[0] ?? NaN),
  };
}

async function withInference<T>(
  packsDir: string,
  use: (inference: Awaited<ReturnType<typeof startInference>>) => Promise<T>,
): Promise<T> {
  const inference = await startInference({ packsDir });
  try {
    return await use(inference);
  } finally {
    inference.close();
  }
}
