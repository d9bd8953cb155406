import { join } from 'node:path';
import { ffmpeg } from './media-tools';

/** The painted face of the samples: 640 × 640 at 25 fps; the face itself is about 205 × 215 pixels around (332, 320). */
const SAMPLE_FACE = join(__dirname, '../../../samples/face.mp4');

export interface FaceVideoOptions {
  readonly frames: number;
  /** A filter chain for the sample, or a graph with the sample as its only input and one output. */
  readonly filters: string;
}

/** Writes an almost lossless video of the painted face after the filters: scaled, moved, doubled, hidden. */
export async function makeFaceVideo(path: string, { frames, filters }: FaceVideoOptions): Promise<void> {
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '8', '-pix_fmt', 'yuv420p'];
  const graph = ['-filter_complex', filters, '-frames:v', String(frames)];
  await ffmpeg(['-i', SAMPLE_FACE, ...graph, ...encoder, path]);
}
