import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { LATENT_SCALE } from '../autoencoder';
import { columnWeights, edgeAt } from './exemplar-edges';
import { type Ladder, type Rung, type Rungs } from './exemplars';
import { type FaceAxes, type FaceCoordinates } from './face-axes';
import { type Refine } from './fields';
import { type LipWarp, type Reach } from './lip-warp';
import { heightOf, lineAt, type LipMotion, NOSE_BASE } from './lips';
import { CLEARANCE, meanColor, relighting } from './relighting';
import { EXEMPLAR_FRAME, inUnits, pointsOf, sample, sampleShared } from './sampling';

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
/**
 * How far landmarks may place the corner of the source's mouth from where it is, in half mouths. At any place the source
 * may be as far open as they say this much further in, and the exemplar must hide that.
 */
const CORNER_OFF = 0.1;
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

/** Pixels from the lips' edge over which what is behind them comes to show. */
const EDGE = 2.2;

/**
 * How far teeth are behind the lips, in units of v. A slot as high as the lips are apart keeps part of the light from them,
 * and what comes off the lips is red. In 16 clips teeth are 0.66, 0.80, 0.85 and 0.91 times as bright (medians, in
 * coded values) at gaps of 0.09, 0.15, 0.21 and 0.27 as behind lips that are wide apart; this depth gives 0.65, 0.80, 0.89
 * and 0.95 of what it gives at 0.33.
 */
const DEPTH = 0.15;
const GAMMA = 2.2;
/** Where the exemplar itself is all but shut, nothing is made brighter than it is there. */
const LEAST_LIGHT = 0.1;

/** How much brighter an exemplar is shown than it is, [batch, 1, points], and how its color changes, [batch, 2, 1]. */
interface Light {
  readonly gain: Value;
  readonly tint: Value;
}

/** Fits the clip's own mouth at two openings near the target's to the target's lines and to the light of the frame. */
export function exemplarLips(
  g: GraphBuilder,
  { ladder, rungs: { rungs, widest, second, weight } }: OwnMouths,
  { axes, at: { u, v }, warp, motion, skin }: TargetMouth,
): ExemplarLips {
  const m = arithmetic(g);
  const { mouthU, upperEdge, lowerEdge, upperOuter, lowerOuter, parting } = warp;
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
  const openAt = (place: Value): Value => {
    const profile = m.dome(place, 1);
    return m.sub(lineAt(g, motion.lower, place, profile), lineAt(g, motion.upper, place, profile));
  };
  const leftOpen = m.mul(m.sub(openAt(m.mul(mouthU, 1 - CORNER_OFF)), openAt(mouthU)), 0.5);
  const beyond = m.sub(m.max(m.sub(upperOuter, v), m.sub(v, lowerOuter)), leftOpen);
  const reach = m.mul(
    m.ramp(beyond, BEYOND_LIPS.end, BEYOND_LIPS.full),
    m.ramp(g.op('Abs', [mouthU]), BESIDE.end, BESIDE.full),
  );
  const picture = inUnits(g, ladder.axes, EXEMPLAR_FRAME);
  const [brightness, tint] = g.split(skin, [1, 2], 1);
  const nose = heightOf(g, axes.landmarks, NOSE_BASE);
  const noses = heightOf(g, ladder.axes.landmarks, NOSE_BASE);
  const { upper: upperEdges, lower: lowerEdges } = ladder.edges;
  const shut = m.ramp(motion.gap, OPENS, 0);
  const atRim = m.mul(shut, m.ramp(m.max(above, below), SHUT_RIM.not, SHUT_RIM.surely));
  const onLips = columnWeights(g, m.clamp(mouthU, -COLOR_SEEN, COLOR_SEEN));

  /** How an exemplar is lit as the frame is. */
  const lightOf = ({ of }: Rung): Light => {
    const [ownBrightness, ownTint] = g.split(of(ladder.skin), [1, 2], 1);
    const light = relighting(g, m.add(brightness, LATENT_SCALE), ownBrightness);
    return {
      gain: m.add(m.mul(mouthU, light.across), m.mul(side, light.downward), light.level),
      tint: meanColor(g, m.sub(tint, ownTint)),
    };
  };
  const placeIn = ({ of }: Rung, x: Value, y: Value): Value => {
    const axesThere = { center: of(picture.center), along: of(picture.along), down: of(picture.down) };
    return pointsOf(g, axesThere, x, y);
  };
  const lipsOf = (rung: Rung) => {
    const { of } = rung;
    const [upper, lower, rim] = [upperEdges, lowerEdges, ladder.edges.rim].map((table) =>
      edgeAt(g, of(table), columns),
    ) as [Value, Value, Value];
    const lost = m.mul(rim, shut);
    // What is left of a lip is stretched to the lip's thickness.
    const stretched = (distance: Value): Value => m.mul(lost, m.ramp(distance, STRETCHED, 0));
    const { isOpen, colors } = ladder.edges;
    const [upperLip, lowerLip] = [colors.upper, colors.lower].map((lip) => edgeAt(g, of(lip), onLips)) as [
      Value,
      Value,
    ];
    return {
      of,
      ...lightOf(rung),
      /** How much of what is seen gets the lip's color. */
      recolored: m.mul(atRim, of(isOpen)),
      colors: { upperLip, lowerLip },
      // Above and below the middle between the lips. Each changes little from point to point.
      places: {
        over: placeIn(rung, mouthU, m.sub(m.add(upper, ownFromUpper), stretched(above))),
        under: placeIn(rung, mouthU, m.add(m.add(lower, ownFromLower), stretched(below))),
      },
    };
  };

  // Teeth stay where they are on the head, which the nose tells, and as wide as they are: lips and their corners move
  // before them. What the exemplar does not open as far is stretched.
  const insideOf = (rung: Rung) => {
    const { of } = rung;
    const narrowest = m.min(m.div(axes.mouthWidth, of(ladder.axes.mouthWidth)), m.add(motion.narrowing, 1));
    const behind = m.mul(u, narrowest);
    const weights = columnWeights(g, behind);
    const [upper, lower] = [edgeAt(g, of(upperEdges), weights), edgeAt(g, of(lowerEdges), weights)];
    const onHead = m.max(m.add(v, m.sub(of(noses), nose)), m.add(upper, fromUpper));
    const { gain, tint } = lightOf(rung);
    const letIn = (gap: Value): Value => {
      const squared = m.square(m.mul(gap, parting));
      return g.op('Pow', [m.div(squared, m.add(squared, (2 * DEPTH) ** 2)), g.scalar(0.5 / GAMMA)]);
    };
    const light = m.min(m.div(letIn(motion.gap), m.max(letIn(of(ladder.gaps)), LEAST_LIGHT)), 1);
    const { colors } = ladder.edges;
    return {
      of,
      place: placeIn(rung, behind, m.min(onHead, m.mix(upper, lower, inward))),
      gain: m.mul(gain, light),
      tint,
      light,
      lips: m.mul(m.add(meanColor(g, of(colors.upper)), meanColor(g, of(colors.lower))), 0.5),
    };
  };

  const [first, next] = [lipsOf(rungs[0]), lipsOf(rungs[1])];
  const inside = insideOf(widest);
  const shownWeight = m.mul(m.smooth(reach), weight);
  return {
    reach,
    drawn(name, toPlane) {
      const [toUpper, toLower, shown] = toPlane(1, fromUpper, fromLower, shownWeight);
      const isAbove = g.op('Less', [m.add(toUpper, toLower), 0]);
      const depth = m.mul(m.min(toUpper, m.sub(0, toLower)), axes.downLength);
      const ofPlane = (color: Value): Value => g.split(color, [1, 2], 1)[name === 'luma' ? 0 : 1];
      const lit = (seen: Value, { gain, tint }: Light): Value =>
        name === 'luma' ? m.mul(seen, ...toPlane(1, gain)) : m.add(seen, tint);
      const lipsFrom = (rung: typeof first): Value => {
        const { of, places, recolored, colors } = rung;
        const [over, under] = toPlane(2, places.over, places.under);
        const seen = sample(g, of(ladder[name]), g.op('Where', [isAbove, over, under]));
        const [upperLip, lowerLip] = toPlane(
          name === 'luma' ? 1 : 2,
          ofPlane(colors.upperLip),
          ofPlane(colors.lowerLip),
        );
        const lip = g.op('Where', [isAbove, upperLip, lowerLip]);
        const own = name === 'luma' ? m.max(m.min(seen, lip), m.mul(lip, SHUT_RIM.darkest)) : lip;
        return lit(m.mix(seen, own, ...toPlane(1, recolored)), rung);
      };
      const lips = m.mix(lipsFrom(first), lipsFrom(next), second);
      const seenBehind = sampleShared(g, inside.of(ladder[name]), ...toPlane(2, inside.place));
      const ofLips = (): Value => m.mix(ofPlane(inside.lips), seenBehind, ...toPlane(1, inside.light));
      const behind = lit(name === 'luma' ? seenBehind : ofLips(), inside);
      const color = m.mix(lips, behind, m.smooth(m.ramp(depth, 0, EDGE)));
      return { color: name === 'luma' ? m.sub(color, LATENT_SCALE) : color, weight: shown };
    },
  };
}
