import { ffmpeg } from './media-tools';

export interface ToneOptions {
  readonly seconds: number;
  /** Encoder and muxer arguments; by default those implied by the file name. */
  readonly encoder?: readonly string[];
  readonly sampleRate?: number;
}

/** Writes a 440 Hz tone. The file name determines the container. */
export async function makeTone(path: string, options: ToneOptions): Promise<void> {
  const source = `sine=frequency=440:sample_rate=${options.sampleRate ?? 44_100}:duration=${options.seconds}`;
  await ffmpeg(['-f', 'lavfi', '-i', source, ...(options.encoder ?? []), path]);
}
