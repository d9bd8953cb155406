import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The size of every face's picture, pixels. */
export const SIDE = 360;
export const RATE = 25;

/** Seconds that everybody speaks in turn, and of silence between two turns. */
const TURN = 3;
const PAUSE = 0.4;

/** What those do who have no turn: keep still, or go on moving their lips, of which nothing is heard. */
export const LISTENERS = ['still', 'moving'] as const;
export type Listener = (typeof LISTENERS)[number];

/** A clip in which these faces, side by side, speak in turns. The first one is the largest. */
export interface Scene {
  /** Videos of faces that speak all the time, with their sound. */
  readonly faces: readonly string[];
  readonly listener: Listener;
  readonly turns: number;
}

/** When whose turn it is. */
export interface Turn {
  readonly face: number;
  readonly start: number;
  readonly end: number;
}

export function turnsOf({ faces, turns }: Scene): Turn[] {
  return Array.from({ length: turns }, (_, turn) => {
    const start = turn * (TURN + PAUSE);
    return { face: turn % faces.length, start, end: start + TURN };
  });
}

/** How much smaller the faces after the first one are drawn. */
const SMALLER = 0.8;

/** Writes a scene as a video. In its turns a face goes on in its own clip; without `company` all but the first are gray. */
export async function composeScene(
  ffmpeg: string,
  scene: Scene,
  file: string,
  company: boolean,
): Promise<void> {
  const turns = turnsOf(scene);
  const filters = scene.faces.flatMap((_, face) => facePicture(scene, turns, face, company));
  const panels = scene.faces.map((_, face) => `[panel${face}]`).join('');
  filters.push(`${panels}hstack=inputs=${scene.faces.length}[picture]`, ...soundOf(scene, turns));
  await promisify(execFile)(ffmpeg, [
    ...['-nostdin', '-v', 'error', '-y'],
    ...scene.faces.flatMap((name) => ['-i', name]),
    ...['-filter_complex', filters.join(';'), '-map', '[picture]', '-map', '[sound]'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '16', '-pix_fmt', 'yuv420p', '-c:a', 'aac', file],
  ]);
}

/** The filters that make one panel: pieces of the face's clip, one for every turn and the pause after it. */
function facePicture(
  { faces, listener }: Scene,
  turns: readonly Turn[],
  face: number,
  company: boolean,
): string[] {
  const side = Math.round((face === 0 ? SIDE : SIDE * SMALLER) / 2) * 2;
  const fit = `fps=${RATE},scale=${side}:${side}:force_original_aspect_ratio=increase,crop=${side}:${side}`;
  const gray = face > 0 && !company ? ',drawbox=color=gray:t=fill' : '';
  const pad = `pad=${SIDE}:${SIDE}:(ow-iw)/2:(oh-ih)/2:gray`;
  const names = turns.map((_, i) => `[f${face}p${i}]`);
  const pieces = turns.map((turn, i) => {
    const from = pieceStart(i, faces.length);
    const speaks = turn.face === face || listener === 'moving';
    // Others' lips go on where their own clip has been or will be, apart from what is heard.
    const start = turn.face === face ? from : from + (face + 1) * 0.7;
    const frames = Math.round((TURN + PAUSE) * RATE);
    const shown = Math.round(TURN * RATE);
    const still = (length: number) => `tpad=stop_mode=clone:stop=${length},setpts=N/${RATE}/TB`;
    return speaks
      ? `[${face}c${i}]trim=start=${start}:duration=${TURN},${still(frames - shown)},trim=end_frame=${frames}[f${face}p${i}]`
      : `[${face}c${i}]trim=start=${from}:duration=${2 / RATE},${still(frames)},trim=end_frame=${frames}[f${face}p${i}]`;
  });
  return [
    `[${face}:v]${fit},split=${turns.length}${turns.map((_, i) => `[${face}c${i}]`).join('')}`,
    ...pieces,
    `${names.join('')}concat=n=${turns.length},${pad}${gray}[panel${face}]`,
  ];
}

/** From which second on a face's clip is shown in a turn: each face speaks on where its last turn ended. */
const pieceStart = (turn: number, faces: number): number => Math.floor(turn / faces) * TURN;

function soundOf({ faces }: Scene, turns: readonly Turn[]): string[] {
  const pieces = turns.map(({ face }, i) => {
    const from = pieceStart(i, faces.length);
    const length = `apad=whole_dur=${TURN + PAUSE}`;
    return `[${face}:a]aresample=48000,aformat=channel_layouts=mono,atrim=start=${from}:duration=${TURN},asetpts=PTS-STARTPTS,${length}[s${i}]`;
  });
  return [
    ...splitInputs(pieces, faces.length),
    `${turns.map((_, i) => `[s${i}]`).join('')}concat=n=${turns.length}:v=0:a=1[sound]`,
  ];
}

/** An input of ffmpeg's can only be read once by filters: those that read the same face's sound read copies of it. */
function splitInputs(filters: readonly string[], faces: number): string[] {
  return Array.from({ length: faces }, (_, face) => face).flatMap((face) => {
    const readers = filters.filter((filter) => filter.startsWith(`[${face}:a]`));
    if (readers.length === 0) return [];
    const copies = readers.map((_, i) => `[a${face}n${i}]`);
    return [
      `[${face}:a]asplit=${readers.length}${copies.join('')}`,
      ...readers.map((filter, i) => filter.replace(`[${face}:a]`, copies[i] ?? '')),
    ];
  });
}
