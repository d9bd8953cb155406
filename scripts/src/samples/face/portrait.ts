import { hairColour, hairCover } from './hair';
import { faceHeight, faceRadius } from './head-relief';
import { type Layer, paintLayer } from './layer';
import { blend, ramp } from './shapes';
import { skinColour } from './skin';

/** Layers of the head: what lies behind the neck, and the face with its front hair, once per degree of eye closure. */
export interface Portrait {
  readonly back: Layer;
  readonly faces: readonly Layer[];
}

/** Number of painted degrees of eye closure: 0, 1/4 … 1. */
const LID_STEPS = 5;
/** Painted pixels per head unit: about one and a half per output pixel, so that movement stays sharp. */
const SCALE = 150;

export function paintPortrait(): Portrait {
  const back = paintLayer(SCALE, (x, y) => {
    const { all } = hairCover(x, y);
    return all === 0 ? null : { colour: hairColour(x, y), cover: all, depth: 0.1 };
  });
  const faces = Array.from({ length: LID_STEPS }, (_, step) => paintFace(step / (LID_STEPS - 1)));
  return { back, faces };
}

function paintFace(eyesClosed: number): Layer {
  return paintLayer(SCALE, (x, y) => {
    const face = ramp(1.012, 0.988, faceRadius(x, y));
    const hair = hairCover(x, y).front;
    const cover = hair + face * (1 - hair);
    if (cover === 0) return null;
    // Hair casts a soft shadow on the skin beside it.
    const shadow = 1 - 0.35 * hairCover(x * 1.06, y - 0.05).front;
    const lit = face > 0 && hair < 1 ? skinColour(x, y, { eyesClosed, gaze: 0.004 }) : hairColour(x, y);
    const skin = [lit[0] * shadow, lit[1] * shadow, lit[2] * shadow] as const;
    return {
      colour: blend(skin, hairColour(x, y), hair / cover),
      cover,
      depth: blend([faceHeight(x, y), 0, 0], [0.75, 0, 0], hair)[0],
    };
  });
}
