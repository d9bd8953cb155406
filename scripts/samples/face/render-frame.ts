import { backdrop } from './backdrop';
import { headPose } from './head-motion';
import { sampleLayer, VALUES } from './layer';
import { type MouthPose } from './mouth-shape';
import { paintBack, paintFace } from './portrait';
import { clamp, mix } from './shapes';
import { torso } from './torso';

export interface Canvas {
  readonly width: number;
  readonly height: number;
}

/** Distance of the eye centres as a share of the picture's height, and the position of the eyes when the head rests. */
const UNIT = 0.15;
const EYES_Y = 0.4;

/** Height of the axis that the head turns about. */
const AXIS_DEPTH = 0.35;

export interface Renderer {
  /** Paints the picture at the given time into `out`, packed 8-bit RGB. */
  render(seconds: number, mouth: MouthPose, out: Uint8Array): void;
}

export function createRenderer({ width, height }: Canvas): Renderer {
  const unit = UNIT * height;
  const stage = paintStage({ width, height }, unit);
  const portraitBack = paintBack();
  const face = new Float32Array(VALUES);
  const back = new Float32Array(VALUES);

  return {
    render(seconds, mouth, out) {
      const pose = headPose(seconds);
      const cos = Math.cos(pose.roll);
      const sin = Math.sin(pose.roll);
      const layer = paintFace(pose.eyesClosed, mouth);
      for (let row = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
          // The neck bends: the head rolls about the chin rather than about the eyes.
          const right = (column + 0.5 - width / 2) / unit - pose.x;
          const down = (row + 0.5 - height * EYES_Y) / unit - pose.y - 1.8;
          const x = cos * right + sin * down;
          const y = cos * down - sin * right + 1.8;
          sampleLayer(layer, x, y, face);
          const lift = (face[4] ?? 0) / Math.max(0.2, face[3] ?? 0) - AXIS_DEPTH;
          sampleLayer(layer, x - pose.turn * lift, y - pose.nod * lift, face);
          sampleLayer(portraitBack, x + pose.turn * AXIS_DEPTH, y + pose.nod * AXIS_DEPTH, back);
          composite(stage, (row * width + column) * 7, back, face, out, (row * width + column) * 3);
        }
      }
    },
  };
}

/** Per pixel the wall's colour, and colour and coverage of neck and shoulders: none of them moves. */
function paintStage({ width, height }: Canvas, unit: number): Float32Array {
  const stage = new Float32Array(width * height * 7);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const wall = backdrop(column / width, row / height);
      const x = (column + 0.5 - width / 2) / unit;
      const y = (row + 0.5 - height * EYES_Y) / unit;
      const body = torso(x, y);
      stage.set([...wall, ...body.colour, body.cover], (row * width + column) * 7);
    }
  }
  return stage;
}

function composite(
  stage: Float32Array,
  at: number,
  back: Float32Array,
  face: Float32Array,
  out: Uint8Array,
  to: number,
): void {
  for (let channel = 0; channel < 3; channel++) {
    let value = stage[at + channel] ?? 0;
    value = value * (1 - (back[3] ?? 0)) + (back[channel] ?? 0);
    value = mix(value, stage[at + 3 + channel] ?? 0, stage[at + 6] ?? 0);
    value = value * (1 - (face[3] ?? 0)) + (face[channel] ?? 0);
    out[to + channel] = 255 * clamp(value) ** (1 / 2.2) + 0.5;
  }
}
