import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { EXEMPLAR_SIDE } from '../face/mouth-exemplars';
import { arithmetic } from './arithmetic';
import { LATENT_SCALE } from './autoencoder';
import { type Ladder, type Rungs } from './exemplars';
import { type FaceCoordinates, type Raster } from './face-axes';
import { type LipWarp, type Reach } from './lip-warp';
import { lineAt, type LipMotion } from './lips';
import { CLEARANCE, meanColor, relighting } from './relighting';
import { inUnits, pointsOf, sample } from './sampling';

/** How far beyond the lips the exemplar shows fully, and where it ends, in units of v; and of u beside the mouth. */
const ABOVE: Reach = { full: 0.03, end: 0.24 };
const BELOW: Reach = { full: 0.08, end: 0.42 };
const BESIDE: Reach = { full: 1.06, end: 1.3 };

/**
 * The lips and what is between them as the clip's own mouth shows it at two openings near the target's, fitted to its
 * lines and to the light of the frame. Color [batch, channels, points], weight [batch, 1, points].
 */
export function exemplarLips(
  g: GraphBuilder,
  own: Ladder,
  { rungs, second, weight }: Rungs,
  name: 'luma' | 'chroma',
  raster: Raster,
  { v }: FaceCoordinates,
  { mouthU, upperEdge, lowerEdge }: LipWarp,
  { fullness }: LipMotion,
  skin: Value,
  border: Value,
): { color: Value; weight: Value } {
  const m = arithmetic(g);
  const profile = m.dome(mouthU, 1);
  const opening = m.sub(lowerEdge, upperEdge);
  const above = m.div(g.op('Relu', [m.sub(upperEdge, v)]), fullness);
  const below = m.div(g.op('Relu', [m.sub(v, lowerEdge)]), fullness);
  const inside = m.clamp(m.div(m.sub(v, upperEdge), m.max(opening, 0.01)), 0, 1);
  const channels = name === 'luma' ? 1 : 2;
  const side = m.sub(
    m.clamp(m.div(below, m.add(own.thickness.lowerLip, CLEARANCE.below)), 0, 1),
    m.clamp(m.div(above, m.add(own.thickness.upperLip, CLEARANCE.above)), 0, 1),
  );
  const picture = inUnits(g, own.axes, { left: 0, top: 0, width: EXEMPLAR_SIDE, height: EXEMPLAR_SIDE });
  const [brightness, tones] = g.split(skin, [1, 2], 1);

  const colors = rungs.map(({ of }) => {
    const upper = lineAt(g, { height: of(own.upper.height), slant: of(own.upper.slant) }, mouthU, profile);
    const lower = lineAt(g, { height: of(own.lower.height), slant: of(own.lower.slant) }, mouthU, profile);
    const there = m.add(m.mix(upper, lower, inside), m.sub(below, above));
    const points = pointsOf(
      g,
      { center: of(picture.center), along: of(picture.along), down: of(picture.down) },
      mouthU,
      there,
    );
    const seen = sample(g, of(own[name]), points, raster.rows, raster.columns);
    const color = g.op('Reshape', [seen, g.ints([-1, channels, raster.rows * raster.columns])]);
    const [theirs, tints] = g.split(of(own.skin), [1, 2], 1);
    if (name === 'chroma') return m.add(color, meanColor(g, m.sub(tones, tints)));
    const light = relighting(g, m.add(brightness, LATENT_SCALE), m.add(theirs, LATENT_SCALE));
    const gain = m.add(m.mul(mouthU, light.across), m.mul(side, light.downward), light.level);
    return m.sub(m.mul(m.add(color, LATENT_SCALE), gain), LATENT_SCALE);
  });
  const [first, next] = colors as [Value, Value];
  const reach = m.mul(
    m.ramp(m.sub(above, own.thickness.upperLip), ABOVE.end, ABOVE.full),
    m.ramp(m.sub(below, own.thickness.lowerLip), BELOW.end, BELOW.full),
    m.ramp(g.op('Abs', [mouthU]), BESIDE.end, BESIDE.full),
  );
  return { color: m.mix(first, next, second), weight: m.mul(m.smooth(reach), weight, border) };
}
