import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { secondsAt, usualRate } from '@lipsync/domain';
import {
  type FaceTrack,
  LANDMARK_VALUES,
  landmarkCenter,
  LEFT_EYE,
  MOUTH,
  RIGHT_EYE,
} from '@lipsync/engines';
import { median } from '@lipsync/local-stack';
import { type Binaries, openClipReader, type ProbedVideo } from '@lipsync/media';
import { type Color, type Occluder } from './occluders';

/** A video of a face, and where the face is. */
export interface FaceClip {
  readonly file: string;
  readonly video: ProbedVideo;
  readonly track: FaceTrack;
}

/** Where a mouth is, the distance of the eyes' centers in pixels, and how far the face is tilted. */
export interface Pose {
  readonly x: number;
  readonly y: number;
  readonly unit: number;
  readonly angle: number;
}

export function poseOf({ landmarks }: FaceTrack, frame: number): Pose {
  const points = landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES);
  const left = landmarkCenter(points, LEFT_EYE);
  const right = landmarkCenter(points, RIGHT_EYE);
  const [dx, dy] = [right.x - left.x, right.y - left.y];
  return { ...landmarkCenter(points, MOUTH), unit: Math.hypot(dx, dy), angle: Math.atan2(dy, dx) };
}

/** The middling pose of a clip. */
function usualPose(track: FaceTrack): Pose {
  const poses = Array.from({ length: track.frames }, (_, frame) => frame)
    .filter((frame) => track.found[frame] === 1)
    .map((frame) => poseOf(track, frame));
  const usual = (of: (pose: Pose) => number): number => median(poses.map(of));
  return {
    x: usual(({ x }) => x),
    y: usual(({ y }) => y),
    unit: usual(({ unit }) => unit),
    angle: usual(({ angle }) => angle),
  };
}

const DEADLINE_MS = 900_000;

/**
 * Draws an occluder over a clip of a face. Resolves to how much of it is seen in every frame at every pixel, 0 to 255.
 */
export async function compose(
  { ffmpeg, ...binaries }: Binaries,
  { file, video, track }: FaceClip,
  occluder: Occluder,
  outFile: string,
): Promise<Uint8Array[]> {
  const layout = { format: 'yuv420p' } as const;
  const reader = openClipReader({ ffmpeg, ...binaries }, file, video, { layout, deadlineMs: DEADLINE_MS });
  const { width, height } = reader;
  const input = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${width}x${height}`];
  const rate = ['-r', String(usualRate(track.clock)), '-i', '-'];
  const output = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '8', outFile];
  const encoder = spawn(ffmpeg, ['-nostdin', '-v', 'error', '-y', ...input, ...rate, ...output], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(encoder, 'close');
  try {
    const usual = usualPose(track);
    const alphas: Uint8Array[] = [];
    let skin: Color | undefined;
    for (let frame = 0; frame < track.frames; frame++) {
      const data = new Uint8Array(reader.frameBytes);
      if (!(await reader.readInto(data))) throw new Error(`${file} has fewer frames than its track`);
      const picture = { width, height, data };
      const color = (skin ??= skinOf(picture, usual));
      const pose = occluder.onHead && track.found[frame] === 1 ? poseOf(track, frame) : usual;
      const seconds = secondsAt(track.clock, frame);
      alphas.push(draw(picture, pose, (x, y) => occluder.at(x, y, seconds, color)));
      if (!encoder.stdin.write(data)) await once(encoder.stdin, 'drain');
    }
    encoder.stdin.end();
    await ended;
    if (encoder.exitCode !== 0) throw new Error(`${outFile} was not written`);
    return alphas;
  } finally {
    encoder.kill();
    await reader.close();
  }
}

interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** The color of the cheek beside the mouth. */
function skinOf({ width, height, data }: Picture, { x, y, unit }: Pose): Color {
  const column = Math.round(x + 0.6 * unit);
  const row = Math.round(y - 0.25 * unit);
  const chromaWidth = (width + 1) >> 1;
  const chroma = (row >> 1) * chromaWidth + (column >> 1);
  const blue = width * height;
  const red = blue + chromaWidth * ((height + 1) >> 1);
  return {
    y: data[row * width + column] ?? 0,
    u: data[blue + chroma] ?? 128,
    v: data[red + chroma] ?? 128,
  };
}

/** Paints over a picture, in place; returns how much of the paint is seen at every pixel, 0 to 255. */
function draw(
  { width, height, data }: Picture,
  { x: left, y: top, unit, angle }: Pose,
  paintAt: (x: number, y: number) => ReturnType<Occluder['at']>,
): Uint8Array {
  const [cos, sin] = [Math.cos(angle) / unit, Math.sin(angle) / unit];
  const paint = (column: number, row: number) => {
    const [right, down] = [column - left, row - top];
    return paintAt(cos * right + sin * down, cos * down - sin * right);
  };
  const mix = (at: number, level: number, alpha: number): void => {
    data[at] = Math.min(255, Math.max(0, Math.round((data[at] ?? 0) * (1 - alpha) + level * alpha)));
  };
  const alphas = new Uint8Array(width * height);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const { alpha, shade, color } = paint(column + 0.5, row + 0.5);
      if (alpha === 0) continue;
      mix(row * width + column, 16 + (color.y - 16) * shade, alpha);
      alphas[row * width + column] = Math.round(255 * alpha);
    }
  const chromaWidth = (width + 1) >> 1;
  const blue = width * height;
  const red = blue + chromaWidth * ((height + 1) >> 1);
  for (let row = 0; 2 * row < height; row++)
    for (let column = 0; column < chromaWidth; column++) {
      const { alpha, color } = paint(2 * column + 1, 2 * row + 1);
      mix(blue + row * chromaWidth + column, color.u, alpha);
      mix(red + row * chromaWidth + column, color.v, alpha);
    }
  return alphas;
}
