import { ffmpeg } from './media-tools';

export interface ToneOptions {
  readonly seconds: number;
  /** Encoder and muxer arguments; what the file's name implies when absent. */
  readonly encoder?: readonly string[];
  readonly sampleRate?: number;
}

/** Writes a 440 Hz tone; the container follows from the file name. */
export async function makeTone(path: string, options: ToneOptions): Promise<void> {
  const source = `sine=frequency=440:sample_rate=${options.sampleRate ?? 44_100}:duration=${options.seconds}`;
  await ffmpeg(['-f', 'lavfi', '-i', source, ...(options.encoder ?? []), path]);
}
