import { type GraphBuilder, type Value } from '../../onnx';
import { arithmetic } from './arithmetic';
import { type FaceAxes } from './face-axes';
import { type LipLines } from './lip-lines';
import { type LipWarp } from './lip-warp';

/** What shows between parted lips. */
export interface MouthInterior {
  /** [batch, 3, PIXELS] in [0, 1]. */
  readonly colour: Value;
  /** [batch, 1, PIXELS]: 1 inside, 0 on the lips, soft over a pixel between. */
  readonly cover: Value;
}

/** Colours relative to the skin, so that dark and light faces, warm and cold light all get their own. */
const CAVITY = [0.3, 0.17, 0.16];
const TONGUE = [0.62, 0.36, 0.36];
/** Teeth are paler than skin but share its light. */
const TEETH = { ofGrey: 0.62, ofSkin: 0.55, tint: [1.1, 1.03, 0.92] };

/** How dark the line between closed lips is. */
const SEAM_SHADOW = 0.5;

/** `skin` [batch, 3, 1] in [0, 1]. */
export function mouthInterior(
  g: GraphBuilder,
  axes: FaceAxes,
  lines: LipLines,
  warp: LipWarp,
  skin: Value,
): MouthInterior {
  const m = arithmetic(g);
  const { v, downLength } = axes;
  const { upperEdge, lowerEdge, mouthU, seam } = warp;
  const paint = (factors: readonly number[]): Value => g.weights([1, 3, 1], factors);

  // Upper teeth belong to the skull: their edge stays just below where the lips meet.
  const teethEdge = m.add(seam, m.mul(m.dome(mouthU, 0.95), 0.09));
  const teeth = m.mul(
    m.clamp(m.add(m.mul(m.sub(teethEdge, v), downLength, 0.6), 0.5), 0, 1),
    m.smooth(m.ramp(mouthU, -0.85, -0.45)),
    m.smooth(m.ramp(m.mul(mouthU, -1), -0.85, -0.45)),
  );
  const tongueTop = m.sub(lowerEdge, m.mul(m.dome(mouthU, 0.75), lines.gap, 0.4));
  const tongue = m.smooth(m.clamp(m.add(m.mul(m.sub(v, tongueTop), downLength, 0.3), 0.5), 0, 1));

  const grey = g.op('ReduceMean', [skin, g.ints([1])]);
  let colour = m.mul(skin, paint(CAVITY));
  const layer = (over: Value, amount: Value): Value => m.add(colour, m.mul(m.sub(over, colour), amount));
  colour = layer(m.mul(skin, paint(TONGUE)), m.mul(tongue, 0.8));
  // The upper lip throws a shadow on the teeth.
  const lit = m.clamp(m.add(m.mul(m.sub(v, upperEdge), 4), 0.55), 0.55, 0.95);
  colour = layer(
    m.mul(m.mul(m.add(m.mul(grey, TEETH.ofGrey), m.mul(skin, TEETH.ofSkin)), paint(TEETH.tint)), lit),
    m.mul(teeth, m.ramp(lines.gap, 0.02, 0.32), 0.9),
  );

  const inside = m.mul(m.min(m.sub(v, upperEdge), m.sub(lowerEdge, v)), downLength);
  // Lips that were pulled together lack the dark line between closed lips.
  const line = m.mul(
    m.clamp(m.add(m.mul(inside, 0.5), 1), 0, 1),
    m.mul(m.ramp(m.dome(mouthU, 0.97), 0, 0.4), lines.wasOpen, SEAM_SHADOW),
  );
  return { colour, cover: m.max(m.clamp(m.mul(inside, 0.6), 0, 1), line) };
}
