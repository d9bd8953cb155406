import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { LATENT_SCALE } from './autoencoder';
import { EXEMPLAR_FRAME, type Ladder, type Rungs } from './exemplars';
import { type FaceCoordinates, type Raster } from './face-axes';
import { type LipWarp, type Reach } from './lip-warp';
import { lineAt, type LipMotion } from './lips';
import { CLEARANCE, meanColor, relighting } from './relighting';
import { inUnits, pointsOf, sample } from './sampling';

/** The clip's own mouths, and those of them that a frame takes its own from. */
interface OwnMouths {
  readonly ladder: Ladder;
  readonly rungs: Rungs;
}

/** The mouth that they are fitted to, at the points of a raster. */
interface TargetMouth {
  readonly raster: Raster;
  readonly at: FaceCoordinates;
  readonly warp: LipWarp;
  readonly motion: LipMotion;
  /** Colors of the skin around it, see skinColors. */
  readonly skin: Value;
}

/** How far beyond the lips the exemplar shows fully, and where it ends, in units of v; and of u beside the mouth. */
const ABOVE: Reach = { full: 0.03, end: 0.24 };
const BELOW: Reach = { full: 0.08, end: 0.42 };
const BESIDE: Reach = { full: 1.06, end: 1.3 };
/** Lips that are less far apart show nothing between them, in units of v. */
const SHUT = 0.01;

/**
 * The lips and what is between them as the clip's own mouth shows it at two openings near the target's, fitted to its
 * lines and to the light of the frame. Color [batch, channels, points], weight [batch, 1, points].
 */
export function exemplarLips(
  g: GraphBuilder,
  name: 'luma' | 'chroma',
  { ladder, rungs: { rungs, second, weight } }: OwnMouths,
  { raster, at: { v }, warp: { mouthU, upperEdge, lowerEdge }, motion: { fullness }, skin }: TargetMouth,
): { color: Value; weight: Value } {
  const m = arithmetic(g);
  const { upperLip, lowerLip } = ladder.thickness;
  const profile = m.dome(mouthU, 1);
  const opening = m.sub(lowerEdge, upperEdge);
  // Distances from the lips' inner edges, in those of the face's own thickness, and the place between the edges.
  const above = m.div(g.op('Relu', [m.sub(upperEdge, v)]), fullness);
  const below = m.div(g.op('Relu', [m.sub(v, lowerEdge)]), fullness);
  const inside = m.clamp(m.div(m.sub(v, upperEdge), m.max(opening, SHUT)), 0, 1);
  const side = m.sub(
    m.clamp(m.div(below, m.add(lowerLip, CLEARANCE.below)), 0, 1),
    m.clamp(m.div(above, m.add(upperLip, CLEARANCE.above)), 0, 1),
  );
  const picture = inUnits(g, ladder.axes, EXEMPLAR_FRAME);
  const channels = name === 'luma' ? 1 : 2;
  const [brightness, tint] = g.split(skin, [1, 2], 1);

  const colors = rungs.map(({ of }) => {
    const upper = lineAt(
      g,
      { height: of(ladder.upper.height), slant: of(ladder.upper.slant) },
      mouthU,
      profile,
    );
    const lower = lineAt(
      g,
      { height: of(ladder.lower.height), slant: of(ladder.lower.slant) },
      mouthU,
      profile,
    );
    const there = m.add(m.mix(upper, lower, inside), m.sub(below, above));
    const axes = { center: of(picture.center), along: of(picture.along), down: of(picture.down) };
    const points = pointsOf(g, axes, mouthU, there);
    const seen = sample(g, of(ladder[name]), points, raster.rows, raster.columns);
    const color = g.op('Reshape', [seen, g.ints([-1, channels, raster.rows * raster.columns])]);
    const [ownBrightness, ownTint] = g.split(of(ladder.skin), [1, 2], 1);
    if (name === 'chroma') return m.add(color, meanColor(g, m.sub(tint, ownTint)));
    const light = relighting(g, m.add(brightness, LATENT_SCALE), m.add(ownBrightness, LATENT_SCALE));
    const gain = m.add(m.mul(mouthU, light.across), m.mul(side, light.downward), light.level);
    return m.sub(m.mul(m.add(color, LATENT_SCALE), gain), LATENT_SCALE);
  });
  const [first, next] = colors as [Value, Value];
  const reach = m.mul(
    m.ramp(m.sub(above, upperLip), ABOVE.end, ABOVE.full),
    m.ramp(m.sub(below, lowerLip), BELOW.end, BELOW.full),
    m.ramp(g.op('Abs', [mouthU]), BESIDE.end, BESIDE.full),
  );
  return { color: m.mix(first, next, second), weight: m.mul(m.smooth(reach), weight) };
}
