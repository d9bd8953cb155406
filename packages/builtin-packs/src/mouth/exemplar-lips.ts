import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { LATENT_SCALE } from '../autoencoder';
import { EXEMPLAR_FRAME, type Ladder, type Rungs } from './exemplars';
import { type FaceCoordinates } from './face-axes';
import { type Refine } from './fields';
import { type LipWarp, type Reach } from './lip-warp';
import { lineAt, type LipLine, type LipMotion } from './lips';
import { CLEARANCE, meanColor, relighting } from './relighting';
import { inUnits, pointsOf, sample } from './sampling';

/** The clip's own mouths, and which of them a frame draws from. */
interface OwnMouths {
  readonly ladder: Ladder;
  readonly rungs: Rungs;
}

/** The mouth that they are fitted to, at the points of a raster. */
interface TargetMouth {
  readonly at: FaceCoordinates;
  readonly warp: LipWarp;
  readonly motion: LipMotion;
  /** Colors of the skin around it, see skinColors. */
  readonly skin: Value;
}

/** The lips and what is between them as the clip's own mouth shows it. */
interface ExemplarLips {
  /** Where it shows: from 0 to 1, [batch, 1, points] of the raster. */
  readonly reach: Value;
  /** Its color in a plane that `toPlane` leads to, and how much of it shows there: [batch, channels or 1, points]. */
  drawn(name: 'luma' | 'chroma', toPlane: Refine): { readonly color: Value; readonly weight: Value };
}

/**
 * How far beyond the lips the exemplar shows fully, and where it ends, in units of v; and of u beside the mouth. Skin and
 * hair around them are the frame's own.
 */
const BEYOND_LIPS: Reach = { full: -0.03, end: 0.07 };
const BESIDE: Reach = { full: 1.05, end: 1.22 };
/** Lips that are less far apart show nothing between them, in units of v. */
const SHUT = 0.01;

/** Fits the clip's own mouth at two openings near the target's to the target's lines and to the light of the frame. */
export function exemplarLips(
  g: GraphBuilder,
  { ladder, rungs: { rungs, second, weight } }: OwnMouths,
  {
    at: { v },
    warp: { mouthU, upperEdge, lowerEdge, upperOuter, lowerOuter },
    motion: { fullness },
    skin,
  }: TargetMouth,
): ExemplarLips {
  const m = arithmetic(g);
  const { upperLip, lowerLip } = ladder.thickness;
  const profile = m.dome(mouthU, 1);
  // Distances from the lips' inner edges, in those of the face's own thickness, and the place between the edges.
  const fromUpper = m.sub(v, upperEdge);
  const fromLower = m.sub(v, lowerEdge);
  const [ownFromUpper, ownFromLower] = [m.div(fromUpper, fullness), m.div(fromLower, fullness)];
  const above = g.op('Relu', [g.op('Neg', [ownFromUpper])]);
  const below = g.op('Relu', [ownFromLower]);
  const inside = m.div(fromUpper, m.max(m.sub(lowerEdge, upperEdge), SHUT));
  const side = m.sub(
    m.clamp(m.div(below, m.add(lowerLip, CLEARANCE.below)), 0, 1),
    m.clamp(m.div(above, m.add(upperLip, CLEARANCE.above)), 0, 1),
  );
  const reach = m.mul(
    m.ramp(m.max(m.sub(upperOuter, v), m.sub(v, lowerOuter)), BEYOND_LIPS.end, BEYOND_LIPS.full),
    m.ramp(g.op('Abs', [mouthU]), BESIDE.end, BESIDE.full),
  );
  const picture = inUnits(g, ladder.axes, EXEMPLAR_FRAME);
  const [brightness, tint] = g.split(skin, [1, 2], 1);
  const shares = [m.sub(1, second), second];

  const fitted = rungs.map(({ of }, rung) => {
    const edge = ({ height, slant }: LipLine): Value =>
      lineAt(g, { height: of(height), slant: of(slant) }, mouthU, profile);
    const [upper, lower] = [edge(ladder.upper), edge(ladder.lower)];
    const axes = { center: of(picture.center), along: of(picture.along), down: of(picture.down) };
    const place = (there: Value): Value => pointsOf(g, axes, mouthU, there);
    const [ownBrightness, ownTint] = g.split(of(ladder.skin), [1, 2], 1);
    const light = relighting(g, m.add(brightness, LATENT_SCALE), ownBrightness);
    const gain = m.add(m.mul(mouthU, light.across), m.mul(side, light.downward), light.level);
    const share = shares[rung] ?? second;
    return {
      of,
      share,
      // Above, between and below the edges of the lips. Each changes little from point to point; what they make up
      // together jumps at the edges.
      places: [
        place(m.add(upper, ownFromUpper)),
        place(m.mix(upper, lower, inside)),
        place(m.add(lower, ownFromLower)),
      ] as const,
      gain: m.mul(gain, share),
      tint: m.mul(meanColor(g, m.sub(tint, ownTint)), share),
    };
  });
  const shownWeight = m.mul(m.smooth(reach), weight);

  return {
    reach,
    drawn(name, toPlane) {
      const [toUpper, toLower, shown] = toPlane(1, fromUpper, fromLower, shownWeight);
      const isAbove = g.op('Less', [toUpper, 0]);
      const isBelow = g.op('Greater', [toLower, 0]);
      const colors = fitted.map(({ of, places, share, ...lit }) => {
        const [over, between, under] = toPlane(2, ...places);
        const points = g.op('Where', [isAbove, over, g.op('Where', [isBelow, under, between])]);
        const color = sample(g, of(ladder[name]), points);
        if (name === 'chroma') return m.add(m.mul(color, share), lit.tint);
        const [gain] = toPlane(1, lit.gain);
        return m.mul(color, gain);
      });
      const [first, next] = colors as [Value, Value];
      const color = m.add(first, next);
      return { color: name === 'luma' ? m.sub(color, LATENT_SCALE) : color, weight: shown };
    },
  };
}
