import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { FROM_RGB, LATENT_SCALE, TO_RGB } from '../autoencoder';
import { type FaceAxes } from './face-axes';

/** The opening that is to be painted: all [batch, 1, points], in face coordinates, see LipWarp. */
interface Opening {
  readonly v: Value;
  readonly mouthU: Value;
  readonly upperEdge: Value;
  readonly lowerEdge: Value;
  readonly seam: Value;
}

/** What shows between parted lips. */
interface MouthInterior {
  /** [batch, channels, points], in the channels of the palette. */
  readonly color: Value;
  /** [batch, 1, points]: 1 inside, 0 on the lips, soft between. */
  readonly cover: Value;
}

/** Colors of one face as [batch, channels, 1], relative to black. */
interface MouthPalette {
  readonly cavity: Value;
  readonly tongue: Value;
  readonly teeth: Value;
}

/** Colors relative to the skin, so that dark and light faces, in warm and cold light, get their own. */
const CAVITY = [0.24, 0.13, 0.12];
const TONGUE = [0.66, 0.36, 0.36];
/** Teeth are paler than skin but in the same light. */
const TEETH = { ofGray: 0.66, ofSkin: 0.42, tint: [1.06, 1.03, 0.95] };

/** The palette for `skin` [batch, 3, 1], brightness and color differences in the range of the latent. */
export function mouthPalette(g: GraphBuilder, skin: Value): MouthPalette {
  const m = arithmetic(g);
  const signed = g.op('MatMul', [g.weights([3, 3], TO_RGB.flat()), m.div(skin, LATENT_SCALE)]);
  const rgb = m.clamp(m.mul(m.add(signed, 1), 0.5), 0.05, 1);
  const tinted = (color: Value, factors: readonly number[]): Value =>
    m.mul(color, g.weights([1, 3, 1], factors));
  const gray = g.op('ReduceMean', [rgb, g.ints([1])]);
  return {
    cavity: tinted(rgb, CAVITY),
    tongue: tinted(rgb, TONGUE),
    teeth: tinted(m.add(m.mul(gray, TEETH.ofGray), m.mul(rgb, TEETH.ofSkin)), TEETH.tint),
  };
}

/** Converts the palette to the plane of these rows of the color matrix, and from [0, 1] to the range of the latent. */
export function paletteIn(g: GraphBuilder, palette: MouthPalette, terms: readonly number[]): MouthPalette {
  const rows = terms.flatMap((term) => (FROM_RGB[term] ?? []).map((weight) => weight * 2 * LATENT_SCALE));
  const weights = g.weights([terms.length, 3], rows);
  const converted = (color: Value): Value => g.op('MatMul', [weights, color]);
  return {
    cavity: converted(palette.cavity),
    tongue: converted(palette.tongue),
    teeth: converted(palette.teeth),
  };
}

/** Half the width of the upper front teeth, from the middle to the canines, in half mouths as seen from the front. */
const TEETH_EDGES = [0, 0.2, 0.36, 0.5, 0.62, 0.71] as const;
/** Half the width of a gap between teeth, how much darker it is, and how far the teeth's edge rises there. */
const GAP = { width: 0.016, shade: 0.16, notch: 0.02 };
/**
 * The row of upper teeth: how far its edge is below the line where the lips meet, in the middle, in units of v; half its
 * width in half mouths; and from where on it fades into the dark of the corners.
 */
const TEETH_ROW = { length: 0.1, width: 0.95, fades: { from: 0.55, to: 0.8 } };
/** The row of teeth curves away from the light. */
const ARCH_SHADE = 0.55;
/** The shadow of the upper lip: how dark right below it, and how fast it fades, per unit of v. */
const LIP_SHADOW = { darkest: 0.5, fading: 3.5 };
/**
 * How high the tongue lies in the opening, in the middle, and how deep its shading goes, as parts of the gap; half its
 * width in half mouths; its brightness at the top, and how much it loses further down.
 */
const TONGUE_LIES = { height: 0.38, depth: 0.4, width: 0.75, lightest: 0.9, shade: 0.25 };
/** Gaps of the lips, in units of v, between which teeth come to light. */
const TEETH_SHOW = { from: 0.02, surely: 0.12 };
/** Half the width of edges in pixels: that of the teeth is crisp, that of the tongue is not. */
const SOFTNESS = { teeth: 1.2, tongue: 2.5 };
/** Pixels from the lips' edge over which the inside comes to show. */
const EDGE = 1.8;

export function mouthInterior(
  g: GraphBuilder,
  { downLength }: FaceAxes,
  { v, mouthU, upperEdge, lowerEdge, seam }: Opening,
  gap: Value,
  palette: MouthPalette,
): MouthInterior {
  const m = arithmetic(g);
  const side = g.op('Abs', [mouthU]);
  const soft = (distance: Value, pixels: number): Value =>
    m.smooth(m.ramp(m.mul(distance, downLength), -pixels, pixels));

  // Upper teeth belong to the skull, so their edge stays just below where the lips meet. Each is a little rounded.
  const between = TEETH_EDGES.map((edge) => m.dome(m.sub(side, edge), 4 * GAP.width)).reduce((a, b) =>
    m.max(a, b),
  );
  const row = m.sub(
    m.add(seam, m.mul(m.dome(mouthU, TEETH_ROW.width), TEETH_ROW.length)),
    m.mul(between, GAP.notch),
  );
  const teeth = m.mul(
    soft(m.sub(row, v), SOFTNESS.teeth),
    m.smooth(m.ramp(side, TEETH_ROW.fades.to, TEETH_ROW.fades.from)),
  );
  const gaps = TEETH_EDGES.map((edge) => m.dome(m.sub(side, edge), GAP.width)).reduce((a, b) => m.max(a, b));
  const arch = m.sub(1, m.mul(m.square(side), ARCH_SHADE));
  const tongueTop = m.sub(
    lowerEdge,
    m.mul(m.dome(mouthU, TONGUE_LIES.width), m.mul(gap, TONGUE_LIES.height)),
  );
  const depth = m.div(m.sub(v, tongueTop), m.max(m.mul(gap, TONGUE_LIES.depth), 0.05));
  const tongue = m.mul(
    soft(m.sub(v, tongueTop), SOFTNESS.tongue),
    m.sub(TONGUE_LIES.lightest, m.mul(m.clamp(depth, 0, 1), TONGUE_LIES.shade)),
  );

  // The upper lip casts a shadow on the teeth; everything darkens towards the corners.
  const lit = m.mul(
    m.clamp(m.add(m.mul(m.sub(v, upperEdge), LIP_SHADOW.fading), LIP_SHADOW.darkest), LIP_SHADOW.darkest, 1),
    m.mul(arch, m.sub(1, m.mul(gaps, GAP.shade))),
  );
  const throat = m.add(
    palette.cavity,
    m.mul(m.mul(m.sub(palette.tongue, palette.cavity), tongue), m.dome(mouthU, 1)),
  );
  const color = m.mix(
    throat,
    m.mul(palette.teeth, lit),
    m.mul(teeth, m.ramp(gap, TEETH_SHOW.from, TEETH_SHOW.surely)),
  );
  const inside = m.mul(m.min(m.sub(v, upperEdge), m.sub(lowerEdge, v)), downLength);
  return { color, cover: m.smooth(m.ramp(inside, 0, EDGE)) };
}
