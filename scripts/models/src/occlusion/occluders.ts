/*
 * Things that people hold or that pass before their faces, drawn with texture and soft edges. Lengths are in distances of
 * the eyes; the origin is the middle of the mouth, x to the viewer's right, y down: the eyes are at −1.1, the chin at 0.8.
 */

/** Levels of brightness and of both color differences. */
export interface Color {
  readonly y: number;
  readonly u: number;
  readonly v: number;
}

/** What an occluder shows at a place: how much of it, 0 to 1, and how bright it is there relative to its color. */
interface Paint {
  readonly alpha: number;
  readonly shade: number;
  readonly color: Color;
}

export interface Occluder {
  readonly name: string;
  /** Whether it moves with the head, as hair does, or keeps its own place. */
  readonly onHead?: true;
  /** What it shows at a place, `seconds` into a clip of CLIP_SECONDS. `skin` is the color of the face. */
  readonly at: (x: number, y: number, seconds: number, skin: Color) => Paint;
}

/** Things come after a second, stay a second, and leave the mouth free again for the last one. */
export const CLIP_SECONDS = 4;
const COMES = 1.1;
const GOES = 2.3;
const MOVING = 0.35;

/** How far it has come: 0 away, 1 there. */
function arrival(seconds: number): number {
  return smooth((seconds - COMES) / MOVING) * smooth((GOES + MOVING - seconds) / MOVING);
}

function smooth(value: number): number {
  const t = Math.min(1, Math.max(0, value));
  return t * t * (3 - 2 * t);
}

/** Blur of an edge, on either side. */
const EDGE = 0.025;

/** How much is shown at this distance outside a border; inside it is negative. */
const within = (distance: number): number => smooth(0.5 - distance / (2 * EDGE));

const ellipse = (x: number, y: number, width: number, height: number): number =>
  (Math.hypot(x / width, y / height) - 1) * Math.min(width, height);

function capsule(x: number, y: number, from: Place, to: Place, radius: number): number {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const along = ((x - from[0]) * dx + (y - from[1]) * dy) / (dx * dx + dy * dy);
  const part = Math.min(1, Math.max(0, along));
  return Math.hypot(x - from[0] - part * dx, y - from[1] - part * dy) - radius;
}

type Place = readonly [x: number, y: number];

function box(x: number, y: number, width: number, height: number, corner: number): number {
  const [dx, dy] = [Math.abs(x) - width + corner, Math.abs(y) - height + corner];
  return Math.hypot(Math.max(0, dx), Math.max(0, dy)) + Math.min(0, Math.max(dx, dy)) - corner;
}

/** Pores, threads, scratches: −1 to 1, smooth between points of a lattice. */
function grain(x: number, y: number): number {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  const [right, down] = [smooth(x - column), smooth(y - row)];
  const at = (i: number, j: number): number => {
    const wave = Math.sin((column + i) * 127.1 + (row + j) * 311.7) * 43758.5453;
    return 2 * (wave - Math.floor(wave)) - 1;
  };
  const upper = at(0, 0) + right * (at(1, 0) - at(0, 0));
  const lower = at(0, 1) + right * (at(1, 1) - at(0, 1));
  return upper + down * (lower - upper);
}

/** Round things are darker towards their border. */
const roundness = (distance: number, size: number): number =>
  0.62 + 0.38 * smooth(Math.min(1, -distance / size));

/** From end to end, and how thick. */
type Limb = readonly [from: Place, to: Place, radius: number];

/** A hand, its palm at the origin and its fingers upwards: four fingers, the thumb, and the arm. */
const LIMBS: readonly Limb[] = [
  [[-0.42, -0.1], [-0.78, -0.95], 0.135],
  [[-0.14, -0.1], [-0.42, -1.07], 0.135],
  [[0.14, -0.1], [-0.08, -1.07], 0.135],
  [[0.4, -0.1], [0.25, -0.95], 0.135],
  [[0.4, 0.2], [0.8, -0.35], 0.15],
  [[0.05, 0.5], [0.4, 3], 0.42],
];

function hand(x: number, y: number, skin: Color): Paint {
  if (x < -1 || x > 1 || y < -1.3) return NOTHING;
  const palm = ellipse(x, y - 0.2, 0.6, 0.52);
  let [nearest, second] = [palm, Infinity];
  for (const [from, to, radius] of LIMBS) {
    const distance = capsule(x, y, from, to, radius);
    if (distance < nearest) [nearest, second] = [distance, nearest];
    else second = Math.min(second, distance);
  }
  if (nearest > EDGE) return NOTHING;
  // Fingers that touch are darker between them.
  const crease = palm < 0 || y > 0.6 ? 1 : smooth((second - nearest) / 0.07);
  const shade = roundness(nearest, 0.13) * (0.85 + 0.15 * crease) + 0.03 * grain(24 * x, 24 * y);
  return { alpha: within(nearest), shade, color: skin };
}

const NOTHING: Paint = { alpha: 0, shade: 1, color: { y: 16, u: 128, v: 128 } };

const BLACK: Color = { y: 48, u: 129, v: 127 };
const STEEL: Color = { y: 120, u: 130, v: 126 };
const WHITE: Color = { y: 205, u: 126, v: 130 };
const BLUE: Color = { y: 90, u: 168, v: 105 };
const BROWN: Color = { y: 58, u: 121, v: 138 };
const CLOTH: Color = { y: 110, u: 118, v: 158 };
const WATER: Color = { y: 190, u: 131, v: 124 };

/** A microphone with its head at the origin and its handle to the lower right. */
function microphone(x: number, y: number): Paint {
  const head = ellipse(x, y, 0.34, 0.34);
  if (head < EDGE) {
    const mesh = 0.35 * Math.sin(42 * (x + y)) * Math.sin(42 * (x - y));
    const glint = 1.2 * smooth(1 - Math.hypot(x + 0.12, y + 0.14) / 0.18);
    return { alpha: within(head), shade: roundness(head, 0.3) + mesh + glint, color: BLACK };
  }
  const handle = capsule(x, y, [0.2, 0.25], [0.9, 2.6], 0.17);
  return { alpha: within(handle), shade: roundness(handle, 0.15), color: STEEL };
}

export const OCCLUDERS: readonly Occluder[] = [
  {
    name: 'hand over the mouth',
    at: (x, y, seconds, skin) => {
      const away = 1 - arrival(seconds);
      return hand(x - 0.1 - 0.6 * away, y - 0.35 - 2.4 * away, skin);
    },
  },
  {
    name: 'hand at the chin',
    at: (x, y, seconds, skin) => {
      const away = 1 - arrival(seconds);
      return hand(x + 0.1 - 0.5 * away, y - 1.6 - 1.8 * away, skin);
    },
  },
  {
    name: 'fingers that pass',
    at: (x, y, seconds, skin) => {
      const way = 3.6 - 7.2 * smooth((seconds - COMES) / 1.2);
      return hand(x + way, y - 0.75, skin);
    },
  },
  {
    name: 'microphone that comes and goes',
    at: (x, y, seconds) => {
      const away = 1 - arrival(seconds);
      return microphone(x - 0.05 - 0.4 * away, y - 0.15 - 2 * away);
    },
  },
  {
    name: 'microphone at the chin throughout',
    at: (x, y, seconds) =>
      microphone(x - 0.12 - 0.02 * Math.sin(2.1 * seconds), y - 0.72 - 0.02 * Math.sin(3.3 * seconds)),
  },
  {
    name: 'cup',
    at: (x, y, seconds) => {
      const away = 1 - arrival(seconds);
      const [right, down] = [x - 0.3 * away, y - 0.4 - 2.2 * away];
      const cup = box(right, down, 0.55, 0.5, 0.08);
      const handle = Math.abs(ellipse(right - 0.6, down, 0.26, 0.28)) - 0.06;
      const stripe = Math.abs(down - 0.1) < 0.12;
      const shade = 0.6 + 0.4 * Math.cos(1.3 * (right + 0.15)) + 0.02 * grain(30 * right, 30 * down);
      return { alpha: within(Math.min(cup, handle)), shade, color: stripe ? CLOTH : WHITE };
    },
  },
  {
    name: 'glass of water',
    at: (x, y, seconds) => {
      const away = 1 - arrival(seconds);
      const [right, down] = [x, y - 0.3 - 2.2 * away];
      const glass = box(right, down, 0.45, 0.6, 0.06);
      const rim = Math.abs(glass + 0.05) - 0.045;
      const glint = capsule(right, down, [-0.28, -0.4], [-0.28, 0.35], 0.05);
      const body = 0.3 * within(glass);
      const bright = 0.9 * Math.max(within(rim), within(glint));
      return { alpha: Math.max(body, bright), shade: 0.95 + 0.1 * bright, color: WATER };
    },
  },
  {
    name: 'pen',
    at: (x, y, seconds) => {
      const away = 1 - arrival(seconds);
      const [right, down] = [x - 0.1 - 1.4 * away, y - 0.05 - 1.1 * away];
      const pen = capsule(right, down, [0, 0], [1.1, 1.5], 0.06);
      return { alpha: within(pen), shade: roundness(pen, 0.06) + 0.1, color: BLUE };
    },
  },
  {
    name: 'phone',
    at: (x, y, seconds) => {
      const away = 1 - arrival(seconds);
      const [right, down] = [x - 0.55 - 2 * away, y + 0.1 - 0.8 * away];
      const [along, across] = [0.96 * right + 0.28 * down, 0.96 * down - 0.28 * right];
      const phone = box(along, across, 0.5, 0.95, 0.1);
      const lens = Math.min(
        ellipse(along + 0.28, across + 0.7, 0.09, 0.09),
        ellipse(along, across + 0.7, 0.09, 0.09),
      );
      return { alpha: within(phone), shade: 0.9 + 0.3 * along + 0.8 * within(lens), color: BLACK };
    },
  },
  {
    name: 'hair in the wind',
    onHead: true,
    at: (x, y, seconds) => {
      const strands = [0, 1, 2].map((strand) => {
        const swing = arrival(seconds) * (0.75 + 0.15 * Math.sin(6 * seconds + strand)) + 0.1 * strand;
        const bend = 1.15 - swing * smooth((y + 1.3) / 1.9);
        const length = y > -1.6 && y < 0.75 ? 0 : 1;
        return Math.abs(x - bend) - 0.045 + length;
      });
      const hair = Math.min(...strands);
      return { alpha: within(hair), shade: 0.9 + 0.35 * grain(40 * x, 3 * y), color: BROWN };
    },
  },
  {
    name: 'scarf pulled up',
    at: (x, y, seconds) => {
      const edge = 0.95 - 1.35 * arrival(seconds) + 0.06 * Math.sin(5 * x);
      const cloth = Math.max(edge - y, Math.abs(x) - 1.5 - 0.2 * y);
      const fold = 0.12 * Math.sin(9 * y + 2 * Math.sin(2 * x)) + 0.08 * grain(34 * x, 34 * y);
      return { alpha: within(cloth), shade: 0.95 + fold, color: CLOTH };
    },
  },
  {
    name: 'somebody who passes',
    at: (x, y, seconds, skin) => {
      const right = x + 6 - 12 * ((seconds - 0.8) / 1.8);
      const head = ellipse(right, y + 0.2, 1, 1.4);
      const body = box(right, y - 3.2, 2, 2.2, 0.8);
      const isHead = head < body;
      const distance = Math.min(head, body);
      const shade = roundness(distance, 0.8) * (isHead ? 0.75 : 0.9) + 0.05 * grain(26 * right, 26 * y);
      return { alpha: within(distance), shade, color: isHead ? skin : BROWN };
    },
  },
];
