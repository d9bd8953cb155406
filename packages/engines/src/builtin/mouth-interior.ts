import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { type FaceAxes, type FaceCoordinates } from './face-axes';
import { type LipLines } from './lip-lines';
import { type LipWarp } from './lip-warp';

/** What shows between parted lips. */
export interface MouthInterior {
  /** [batch, channels, points], in the channels of the palette. */
  readonly colour: Value;
  /** [batch, 1, points]: 1 inside, 0 on the lips, soft over a pixel between. */
  readonly cover: Value;
}

/** Colours of one face as [batch, channels, 1], relative to black. */
export interface MouthPalette {
  readonly cavity: Value;
  readonly tongue: Value;
  readonly teeth: Value;
}

/** Colours relative to the skin, so that dark and light faces, in warm and cold light, get their own. */
const CAVITY = [0.3, 0.17, 0.16];
const TONGUE = [0.62, 0.36, 0.36];
/** Teeth are paler than skin but in the same light. */
const TEETH = { ofGrey: 0.62, ofSkin: 0.55, tint: [1.1, 1.03, 0.92] };

/** How dark the line between closed lips is. */
const SEAM_SHADOW = 0.5;

/** The palette as RGB in [0, 1], for `skin` [batch, 3, 1] in [0, 1]. */
export function mouthPalette(g: GraphBuilder, skin: Value): MouthPalette {
  const m = arithmetic(g);
  const tinted = (colour: Value, factors: readonly number[]): Value =>
    m.mul(colour, g.weights([1, 3, 1], factors));
  const grey = g.op('ReduceMean', [skin, g.ints([1])]);
  return {
    cavity: tinted(skin, CAVITY),
    tongue: tinted(skin, TONGUE),
    teeth: tinted(m.add(m.mul(grey, TEETH.ofGrey), m.mul(skin, TEETH.ofSkin)), TEETH.tint),
  };
}

export function mouthInterior(
  g: GraphBuilder,
  axes: FaceAxes,
  { v }: FaceCoordinates,
  lines: LipLines,
  warp: LipWarp,
  palette: MouthPalette,
): MouthInterior {
  const m = arithmetic(g);
  const { downLength } = axes;
  const { upperEdge, lowerEdge, mouthU, seam } = warp;

  // Upper teeth belong to the skull, so their edge stays just below where the lips meet.
  const teethEdge = m.add(seam, m.mul(m.dome(mouthU, 0.95), 0.09));
  const teeth = m.mul(
    m.ramp(m.mul(m.sub(teethEdge, v), downLength), -0.5 / 0.6, 0.5 / 0.6),
    m.smooth(m.ramp(mouthU, -0.85, -0.45)),
    m.smooth(m.ramp(mouthU, 0.85, 0.45)),
  );
  const tongueTop = m.sub(lowerEdge, m.mul(m.dome(mouthU, 0.75), m.mul(lines.gap, 0.4)));
  const tongue = m.smooth(m.ramp(m.mul(m.sub(v, tongueTop), downLength), -0.5 / 0.3, 0.5 / 0.3));

  // The upper lip casts a shadow on the teeth.
  const lit = m.clamp(m.add(m.mul(m.sub(v, upperEdge), 4), 0.55), 0.55, 0.95);
  const throat = m.add(palette.cavity, m.mul(m.mul(m.sub(palette.tongue, palette.cavity), 0.8), tongue));
  const visible = m.mul(teeth, m.mul(m.ramp(lines.gap, 0.02, 0.32), 0.9));
  const colour = m.mix(throat, m.mul(palette.teeth, lit), visible);

  const inside = m.mul(m.min(m.sub(v, upperEdge), m.sub(lowerEdge, v)), downLength);
  // Lips that were pulled together lack the dark line between closed lips.
  const line = m.mul(
    m.ramp(inside, -2, 0),
    m.mul(m.ramp(m.dome(mouthU, 0.97), 0, 0.4), m.mul(lines.wasOpen, SEAM_SHADOW)),
  );
  return { colour, cover: m.max(m.ramp(inside, 0, 1 / 0.6), line) };
}
