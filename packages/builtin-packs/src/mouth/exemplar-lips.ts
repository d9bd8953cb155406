import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { LATENT_SCALE } from '../autoencoder';
import { columnWeights, edgeAt, edgeInMiddle } from './exemplar-edges';
import { type Ladder, type Rung, type Rungs } from './exemplars';
import { type FaceAxes, type FaceCoordinates } from './face-axes';
import { type Refine } from './fields';
import { type LipWarp, type Reach } from './lip-warp';
import { heightOf, type LipMotion, NOSE_BASE } from './lips';
import { CLEARANCE, meanColor, relighting } from './relighting';
import { EXEMPLAR_FRAME, inUnits, pointsOf, sample } from './sampling';

/** The clip's own mouths, and which of them a frame draws from. */
interface OwnMouths {
  readonly ladder: Ladder;
  readonly rungs: Rungs;
}

/** The mouth that they are fitted to, at the points of a raster. */
interface TargetMouth {
  readonly axes: FaceAxes;
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
/** At this gap, in units of v, lips that open show their edges. */
const OPENS = 0.15;
/** How much of a lip is stretched, from its edge on. */
const STRETCHED = 0.35;
/**
 * Where the edge of a lip that was open and is shut has the lip's color and about its brightness, because teeth and the
 * gaps between them were taken for lip: how far from the edge surely, and where that ends, in units of v; and how dark it
 * may be relative to the lip, for closed lips have a dark line between them.
 */
const SHUT_RIM = { surely: 0.06, not: 0.18, darkest: 0.7 };
/** Further out, as u, lips get too thin for their color to be seen, but have the same. */
const COLOR_SEEN = 0.6;
/** Lips that are less far apart show nothing between them, in units of v. */
const SHUT = 0.01;

/** Fits the clip's own mouth at two openings near the target's to the target's lines and to the light of the frame. */
export function exemplarLips(
  g: GraphBuilder,
  { ladder, rungs: { rungs, second, weight } }: OwnMouths,
  { axes, at: { u, v }, warp, motion, skin }: TargetMouth,
): ExemplarLips {
  const m = arithmetic(g);
  const { mouthU, upperEdge, lowerEdge, upperOuter, lowerOuter } = warp;
  const { upperLip, lowerLip } = ladder.thickness;
  const columns = columnWeights(g, mouthU);
  // Distances from the lips' inner edges, in those of the face's own thickness, and the place between the edges.
  const fromUpper = m.sub(v, upperEdge);
  const fromLower = m.sub(v, lowerEdge);
  const [ownFromUpper, ownFromLower] = [m.div(fromUpper, motion.fullness), m.div(fromLower, motion.fullness)];
  const above = g.op('Relu', [g.op('Neg', [ownFromUpper])]);
  const below = g.op('Relu', [ownFromLower]);
  const inward = m.div(fromUpper, m.max(m.sub(lowerEdge, upperEdge), SHUT));
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
  const nose = heightOf(g, axes.landmarks, NOSE_BASE);
  const noses = heightOf(g, ladder.axes.landmarks, NOSE_BASE);
  const { upper: upperEdges, lower: lowerEdges } = ladder.edges;
  const openings = m.sub(edgeInMiddle(g, lowerEdges), edgeInMiddle(g, upperEdges));
  const shut = m.ramp(motion.gap, OPENS, 0);
  const atRim = m.mul(shut, m.ramp(m.max(above, below), SHUT_RIM.not, SHUT_RIM.surely));
  const onLips = columnWeights(g, m.clamp(mouthU, -COLOR_SEEN, COLOR_SEEN));

  const fit = ({ of }: Rung) => {
    const tables = [upperEdges, lowerEdges, ladder.edges.rim].map(of);
    const edgesAt = (weights: Value): { upper: Value; lower: Value; lost: Value } => {
      const [upper, lower, rim] = tables.map((table) => edgeAt(g, table, weights)) as [Value, Value, Value];
      const lost = m.mul(rim, shut);
      return { upper: m.sub(upper, lost), lower: m.add(lower, lost), lost };
    };
    const { upper, lower, lost } = edgesAt(columns);
    // What is left of a lip is stretched to the lip's thickness.
    const stretched = (distance: Value): Value => m.mul(lost, m.ramp(distance, 0, STRETCHED));
    const axesThere = { center: of(picture.center), along: of(picture.along), down: of(picture.down) };
    const place = (x: Value, y: Value): Value => pointsOf(g, axesThere, x, y);
    // Teeth stay where they are on the head, which the nose tells, and as wide as they are: lips and their corners move
    // before them. What the exemplar does not open as far is stretched.
    const narrowest = m.min(m.div(axes.mouthWidth, of(ladder.axes.mouthWidth)), m.add(motion.narrowing, 1));
    const behind = m.mul(u, narrowest);
    const { upper: upperBehind, lower: lowerBehind } = edgesAt(columnWeights(g, behind));
    const onHead = m.max(m.add(v, m.sub(of(noses), nose)), m.add(upperBehind, fromUpper));
    const between = m.min(onHead, m.mix(upperBehind, lowerBehind, inward));
    const [ownBrightness, ownTint] = g.split(of(ladder.skin), [1, 2], 1);
    const light = relighting(g, m.add(brightness, LATENT_SCALE), ownBrightness);
    const gain = m.add(m.mul(mouthU, light.across), m.mul(side, light.downward), light.level);
    const { isOpen, colors } = ladder.edges;
    const lips = [colors.upper, colors.lower].map((lip) => edgeAt(g, of(lip), onLips)) as [Value, Value];
    return {
      of,
      opening: of(openings),
      /** How much of what is seen gets the lip's color. */
      recolored: m.mul(atRim, of(isOpen)),
      lips,
      // Above, between and below the edges of the lips. Each changes little from point to point; what they make up
      // together jumps at the edges.
      places: [
        place(mouthU, m.add(upper, ownFromUpper, stretched(above))),
        place(behind, between),
        place(mouthU, m.sub(m.add(lower, ownFromLower), stretched(below))),
      ] as const,
      gain,
      tint: meanColor(g, m.sub(tint, ownTint)),
    };
  };
  const [first, next] = [fit(rungs[0]), fit(rungs[1])];
  // Behind the lips, the mouth that opens further shows more: what a closed one has there is lips.
  const [ofFirst, ofNext] = [
    m.mul(m.sub(1, second), m.max(m.square(first.opening), SHUT ** 2)),
    m.mul(second, m.max(m.square(next.opening), SHUT ** 2)),
  ];
  const nextBehind = m.div(ofNext, m.add(ofFirst, ofNext));
  const shownWeight = m.mul(m.smooth(reach), weight);

  return {
    reach,
    drawn(name, toPlane) {
      const [toUpper, toLower, shown] = toPlane(1, fromUpper, fromLower, shownWeight);
      const isAbove = g.op('Less', [toUpper, 0]);
      const isBelow = g.op('Greater', [toLower, 0]);
      const ofPlane = (color: Value): Value => g.split(color, [1, 2], 1)[name === 'luma' ? 0 : 1];
      const fromRung = ({ of, places, gain, tint, recolored, lips }: typeof first): Value => {
        const [over, between, under] = toPlane(2, ...places);
        const points = g.op('Where', [isAbove, over, g.op('Where', [isBelow, under, between])]);
        const seen = sample(g, of(ladder[name]), points);
        const [upperLip, lowerLip] = toPlane(name === 'luma' ? 1 : 2, ofPlane(lips[0]), ofPlane(lips[1]));
        const lip = g.op('Where', [isAbove, upperLip, lowerLip]);
        const own = name === 'luma' ? m.max(m.min(seen, lip), m.mul(lip, SHUT_RIM.darkest)) : lip;
        const color = m.mix(seen, own, ...toPlane(1, recolored));
        return name === 'luma' ? m.mul(color, ...toPlane(1, gain)) : m.add(color, tint);
      };
      const part = g.op('Where', [isAbove, second, g.op('Where', [isBelow, second, nextBehind])]);
      const color = m.mix(fromRung(first), fromRung(next), part);
      return { color: name === 'luma' ? m.sub(color, LATENT_SCALE) : color, weight: shown };
    },
  };
}
