import { hairColour, hairCover } from './hair';
import { faceHeight, faceRadius } from './head-relief';
import { type Layer, paintLayer } from './layer';
import { atRest, type MouthPose } from './mouth-shape';
import { blend, ramp } from './shapes';
import { skinColour } from './skin';

const SCALE = 150;

export function paintBack(): Layer {
  return paintLayer(SCALE, (x, y) => {
    const { all } = hairCover(x, y);
    return all === 0 ? null : { colour: hairColour(x, y), cover: all, depth: 0.1 };
  });
}

export function paintFace(eyesClosed: number, mouth: MouthPose): Layer {
  return paintLayer(SCALE, (x, y) => {
    const rest = atRest(mouth, x, y) ?? { x, y };
    const face = ramp(1.012, 0.988, faceRadius(rest.x, rest.y));
    const hair = hairCover(x, y).front;
    const cover = hair + face * (1 - hair);
    if (cover === 0) return null;
    // Hair casts a soft shadow on the skin beside it.
    const shadow = 1 - 0.35 * hairCover(x * 1.06, y - 0.05).front;
    const lit =
      face > 0 && hair < 1 ? skinColour(x, y, { eyesClosed, gaze: 0.004, mouth }) : hairColour(x, y);
    const skin = [lit[0] * shadow, lit[1] * shadow, lit[2] * shadow] as const;
    return {
      colour: blend(skin, hairColour(x, y), hair / cover),
      cover,
      depth: blend([faceHeight(rest.x, rest.y), 0, 0], [0.75, 0, 0], hair)[0],
    };
  });
}
