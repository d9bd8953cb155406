import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface VideoFormat {
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  readonly frames: number;
}

/**
 * Encodes packed RGB frames as H.264 (4:2:0, BT.709) with the ffmpeg on the PATH. `paint` fills one frame at a time.
 * Rejects when ffmpeg fails. The same ffmpeg version gives the same bytes, because no timestamp is stored.
 */
export async function encodeVideo(
  file: string,
  format: VideoFormat,
  paint: (frame: number, out: Uint8Array) => void,
): Promise<void> {
  const { width, height, framesPerSecond, frames } = format;
  const matrix = [
    '-color_primaries',
    'bt709',
    '-color_trc',
    'bt709',
    '-colorspace',
    'bt709',
    '-color_range',
    'tv',
  ];
  const encoder = spawn(
    'ffmpeg',
    [
      ...['-v', 'error', '-nostdin', '-y'],
      ...[
        '-f',
        'rawvideo',
        '-pix_fmt',
        'rgb24',
        '-s',
        `${width}x${height}`,
        '-r',
        String(framesPerSecond),
        '-i',
        'pipe:0',
      ],
      ...['-vf', 'scale=out_color_matrix=bt709:out_range=tv,format=yuv420p'],
      ...['-c:v', 'libx264', '-preset', 'veryslow', '-crf', '18', '-threads', '1', ...matrix],
      ...['-map_metadata', '-1', '-fflags', '+bitexact', '-movflags', '+faststart', file],
    ],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  const ended = once(encoder, 'close');
  for (let frame = 0; frame < frames; frame++) {
    const out = new Uint8Array(width * height * 3);
    paint(frame, out);
    if (!encoder.stdin.write(out)) await Promise.race([once(encoder.stdin, 'drain'), ended]);
    if (encoder.exitCode !== null) break;
  }
  encoder.stdin.end();
  await ended;
  if (encoder.exitCode !== 0) throw new Error(`ffmpeg ended with ${encoder.exitCode}`);
}
