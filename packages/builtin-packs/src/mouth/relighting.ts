import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { type Planes } from '../autoencoder';
import { type FaceAxes } from './face-axes';
import { lineAt, type LipThickness, type MeasuredLips } from './lips';
import { type Frame, inUnits, pointsOf, sample } from './sampling';

/**
 * Sample points on the skin close around the lips: u, and whether it is above the upper lip (-1), beside the mouth (0)
 * or below the lower lip (1).
 */
const PLACES = [
  [-1.3, 0],
  [-0.7, -1],
  [0, -1],
  [0.7, -1],
  [1.3, 0],
  [0.8, 1],
  [0, 1],
  [-0.8, 1],
] as const;

/** Each is a mean of five points, because a single pixel is noisy. */
const AROUND = [
  [0, 0],
  [0.1, 0],
  [-0.1, 0],
  [0, 0.1],
  [0, -0.1],
] as const;

const SKIN_SPOTS = PLACES.flatMap(([u, side]) => AROUND.map(([du, dv]) => ({ u: u + du, side, dv })));

/** How far from the lips they are, in units of v. */
export const CLEARANCE = { above: 0.14, below: 0.25 };

/**
 * Brightness and color differences of the skin at some places around the mouth, [batch, 3, places], in the range of the
 * planes.
 */
export function skinColors(
  g: GraphBuilder,
  picture: Planes,
  axes: FaceAxes,
  lips: Pick<MeasuredLips, 'upper' | 'lower'>,
  { upperLip, lowerLip }: LipThickness,
  frame: Frame,
): Value {
  const m = arithmetic(g);
  const constant = (values: readonly number[]): Value => g.weights([1, 1, values.length], values);
  const at = SKIN_SPOTS.map(({ u }) => u);
  const where = (side: -1 | 1): Value => constant(SKIN_SPOTS.map((spot) => (spot.side === side ? 1 : 0)));
  const u = constant(at);
  const profile = constant(at.map((value) => Math.max(0, 1 - value * value)));
  const above = m.sub(lineAt(g, lips.upper, u, profile), m.add(upperLip, CLEARANCE.above));
  const below = m.add(lineAt(g, lips.lower, u, profile), lowerLip, CLEARANCE.below);
  const v = m.add(m.mul(above, where(-1)), m.mul(below, where(1)), constant(SKIN_SPOTS.map(({ dv }) => dv)));
  const points = pointsOf(g, inUnits(g, axes, frame), u, v);
  const planes = [picture.luma, picture.chroma].map((plane) => sample(g, plane, points));
  return g.op('Concat', planes, { axis: 1 });
}

/** Mean over the places of skinColors, [batch, channels, 1]. */
export function meanColor(g: GraphBuilder, colors: Value): Value {
  return g.op('ReduceMean', [colors, g.ints([2])]);
}

/** Light that differs by more is another scene. */
const GAIN = { least: 0.5, most: 2 };

/**
 * The factor level + across·u + downward·side by which the light in one picture differs from that in another, [batch, 1,
 * 1] each; `side` is -1 above the lips, 0 between them and 1 below.
 */
interface Relighting {
  readonly level: Value;
  readonly across: Value;
  readonly downward: Value;
}

/** From the brightness of the skin, relative to black, in the picture to be matched and in the picture to be lit. */
export function relighting(g: GraphBuilder, wanted: Value, lit: Value): Relighting {
  const m = arithmetic(g);
  const ratio = m.clamp(m.div(m.max(wanted, 1e-3), m.max(lit, 1e-3)), GAIN.least, GAIN.most);
  const fit = g.weights([1, SKIN_SPOTS.length, 3], planeFit());
  const [level, across, downward] = g.split(g.op('MatMul', [ratio, fit]), [1, 1, 1], 2);
  return { level, across, downward };
}

/**
 * Least squares: [places, 3] that turns values at SKIN_SPOTS into level, across and downward. The places are symmetric,
 * so that the three hardly depend on each other and each is fitted on its own, after the level.
 */
function planeFit(): number[] {
  const count = SKIN_SPOTS.length;
  const middle = SKIN_SPOTS.reduce((sum, { side }) => sum + side, 0) / count;
  const squares = (of: (spot: (typeof SKIN_SPOTS)[number]) => number): number =>
    SKIN_SPOTS.reduce((sum, spot) => sum + of(spot) ** 2, 0);
  const across = squares(({ u }) => u);
  const downward = squares(({ side }) => side - middle);
  return SKIN_SPOTS.flatMap(({ u, side }) => {
    const slope = (side - middle) / downward;
    return [1 / count - middle * slope, u / across, slope];
  });
}
