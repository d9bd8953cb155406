import { rm } from 'node:fs/promises';
import { extname } from 'node:path';
import { SAMPLE_VIDEO } from '@lipsync/local-stack';
import { ffmpeg, makeNumberedVideo, type PictureArea, sayTurned } from '@lipsync/testkit';

/** A source whose every picture is known by the number burned into it. */
export interface SceneOptions {
  /** Pictures, or fields of interlaced video. */
  readonly pictures: number;
  /** Pictures or fields per second, as "30000/1001"; the pictures come evenly unless `times` says otherwise. */
  readonly rate: string;
  /** When picture N appears, in ticks of 1/90000 s, as an expression of ffmpeg's. */
  readonly times?: string;
  /** Even numbers; 640 and 360 when absent. */
  readonly width?: number;
  readonly height?: number;
  /** How light is coded; 8 bits of BT.709 when absent, else 10 bits. */
  readonly light?: 'sdr10' | 'hlg' | 'pq';
  /** Filters behind the scene, which change its format. */
  readonly filters?: string;
  /** Encoder and muxer arguments; H.264 with B-frames when absent. */
  readonly encoder?: readonly string[];
  /** Arguments that make the source out of what was encoded, the master. */
  readonly remake?: (master: string) => readonly string[];
  /** The source has the pictures of the master as fields, so that only the master shows them one by one. */
  readonly isWoven?: boolean;
  /** By how many degrees players have to turn what is stored clockwise. */
  readonly turned?: 90;
}

/** Rows at the top with the number, and at the bottom with a ramp through all codes of luma. */
const NUMBER_ROWS = 16;
const RAMP_ROWS = 32;
/** What a deinterlacer takes into account beside a pixel. */
const EDGE_ROWS = 8;
/** The side of the sample face, and what engines may change of it around its center. */
const SAMPLE = { side: 640, x: 332, y: 320, reach: 230 };
/** The camera pans by this part of the width to both sides, so often a second. */
const PAN = { part: 1 / 16, hertz: 0.75 };

function geometryOf({ width = 640, height = 360 }: SceneOptions) {
  const side = height - NUMBER_ROWS - RAMP_ROWS;
  const pan = Math.round(width * PAN.part);
  return { width, height, side, pan };
}

/** All that an engine may change in any picture. */
export function faceArea(options: SceneOptions): PictureArea {
  const { width, side, pan } = geometryOf(options);
  const scale = side / SAMPLE.side;
  const [x, y] = [width / 2 + (SAMPLE.x - SAMPLE.side / 2) * scale, NUMBER_ROWS + SAMPLE.y * scale];
  const reach = SAMPLE.reach * scale;
  return { x1: x - reach - pan, x2: x + reach + pan, y1: y - reach, y2: y + reach };
}

/** Where the camera pans, without the edges of what does not move. */
export function pannedArea(options: SceneOptions): PictureArea {
  const { width, height } = geometryOf(options);
  return { x1: 0, y1: NUMBER_ROWS + EDGE_ROWS, x2: width, y2: height - RAMP_ROWS - EDGE_ROWS };
}

/** Where the ramp is. */
export function rampArea(options: SceneOptions): PictureArea {
  const { width, height } = geometryOf(options);
  return { x1: 0, y1: height - RAMP_ROWS, x2: width, y2: height };
}

const H264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '10', '-g', '48', '-bf', '2'];

/**
 * Writes a source: the painted face on a patterned wall under a camera that pans, with a number and a ramp.
 * @returns the file that its pictures and times are to be read from: itself, or its progressive master
 */
export async function makeScene(path: string, options: SceneOptions): Promise<string> {
  const { pictures, rate, remake, turned, encoder = H264 } = options;
  const master = `${path}.master${extname(path)}`;
  const times =
    options.times === undefined ? [] : ['-enc_time_base', '1:90000', '-video_track_timescale', '90000'];
  const isRemade = remake !== undefined || turned !== undefined;
  await makeNumberedVideo(isRemade ? master : path, {
    frames: pictures,
    rate,
    height: NUMBER_ROWS,
    filters: sceneFilters(options),
    encoder: [...encoder, ...times],
  });
  if (turned !== undefined) {
    await sayTurned(master, path, turned);
    await rm(master);
    return path;
  }
  if (remake === undefined) return path;
  await ffmpeg([...remake(master), path]);
  return options.isWoven === true ? master : path;
}

function sceneFilters(options: SceneOptions): string {
  const { width, height, side, pan } = geometryOf(options);
  const { times, light, filters } = options;
  const deep = light !== undefined;
  const format = deep ? 'format=yuv420p10le' : 'format=yuv420p';
  const overlay = `format=${deep ? 'yuv420p10' : 'yuv420'}:shortest=1`;
  const code = deep ? 4 : 1;
  const still = 'trim=end_frame=1,loop=-1:1:0';
  const wide = width + 2 * pan;
  const wall = `lum='${code}*(128+30*sin(X/4)*cos(Y/19))':cb=${code * 128}:cr=${code * 128}`;
  const ramp = `lum='${code}*(16+219*(X+Y/${RAMP_ROWS})/${width})':cb=${code * 128}:cr=${code * 128}`;
  return [
    [
      times === undefined ? 'null' : `settb=1/90000,setpts='${times}'`,
      `pad=${width}:${height}`,
      `${format}[n]`,
    ],
    [`nullsrc=s=${wide}x${side},${format},geq=${wall}`, `${still}[wall]`],
    [`movie='${SAMPLE_VIDEO}',scale=${side}:${side}`, `${format}[face]`],
    [`[wall][face]overlay=(W-w)/2:0:${overlay}`, `${developed(light)}[scene]`],
    [`nullsrc=s=${width}x${RAMP_ROWS},${format},geq=${ramp}`, `${still}[ramp]`],
    [
      `[n][scene]overlay='${pan}*(sin(t*${(2 * Math.PI * PAN.hertz).toFixed(4)})-1)':${NUMBER_ROWS}:${overlay}[panned]`,
    ],
    [`[panned][ramp]overlay=0:H-h:${overlay}`, filters ?? 'null'],
  ]
    .map((chain) => chain.join(','))
    .join(';');
}

/** About what a camera makes of the sample: its white is at 75 % of HLG, and at 58 % of PQ. */
function developed(light: SceneOptions['light']): string {
  if (light === 'hlg') return "lutyuv=y='64+(val-64)*0.75'";
  if (light === 'pq') return "lutyuv=y='64+(val-64)*0.58'";
  return 'null';
}
