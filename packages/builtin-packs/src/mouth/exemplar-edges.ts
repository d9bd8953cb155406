import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { type Planes } from '../autoencoder';
import { type FaceAxes } from './face-axes';
import { lineAt, type LipThickness, type MeasuredLips } from './lips';
import { EXEMPLAR_FRAME, inUnits, pointsOf, sample } from './sampling';

/*
 * Landmarks tell the inner edges of lips to about a third of a lip. Where the clip never shuts its mouth, closed lips are
 * what an open mouth has above and below its inner edges; an edge that is that wrong leaves a strip of teeth between
 * them. Colors tell the edges to a pixel or two: teeth are less red than lips, and the dark behind is darker.
 */

/** Places along the mouth at which lips are looked at, as u, and the number of points from one lip to the other. */
const COLUMNS = [-0.8, -0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8] as const;
const SPACING = 0.2;
const STEPS = 24;
/** Columns start in the middle of a lip, and end in that of the other. The first and the last points are on lips. */
const LIP_PART = 0.5;
const ON_LIP = 3;
/** The columns that show whether a mouth is open, [first, end]. */
const MIDDLE = [3, 6] as const;

/** How red teeth are relative to lips. */
const TEETH = { surely: 0.55, not: 0.75 };
/** How bright the dark is relative to the lip that it borders on, and relative to the darker lip. */
const BESIDE_LIP = { surely: 0.6, not: 0.8 };
const BETWEEN_LIPS = { surely: 0.5, not: 0.7 };
/** Closed lips have a dark line between them. What is thicker is an open mouth; teeth count double. In units of v. */
const SEAM = { surely: 0.1, not: 0.18 };
/** Lips that are measured this much further apart than closed ones are open, whatever colors say. */
const APART = { not: 0.12, surely: 0.25 };
/** See LipEdges. */
const RIM = 0.12;
/** How far what colors say may be from what landmarks say, in units of v. */
const LIMIT = { edge: 0.15, seam: 0.12 };

interface SeenLips {
  readonly measured: MeasuredLips;
  /** How far the lips are apart beyond what the landmarks report for closed ones, as the landmarks say. */
  readonly gaps: Value;
  readonly thickness: LipThickness;
}

/** The inner edges of the lips at COLUMNS, [batch, 1, columns] each, in units of v. */
export interface LipEdges {
  readonly upper: Value;
  readonly lower: Value;
  /** How much of either lip must go when lips that were open are closed: at an edge, pixels are of both sides. */
  readonly rim: Value;
  /** 1 where the lips are apart, 0 where they touch; [batch, 1, 1]. */
  readonly isOpen: Value;
  /** The color of the middle of either lip at COLUMNS: brightness relative to black and color differences, [batch, 3, columns] each. */
  readonly colors: { readonly upper: Value; readonly lower: Value };
}

/** The edges in exemplars; those of closed lips are both in the middle of the line between them. */
export function lipEdges(
  g: GraphBuilder,
  picture: Planes,
  axes: FaceAxes,
  { measured, gaps, thickness }: SeenLips,
): LipEdges {
  const m = arithmetic(g);
  const column = g.weights([1, COLUMNS.length, 1], COLUMNS);
  const profile = m.dome(column, 1);
  const upperLine = lineAt(g, measured.upper, column, profile);
  const lowerLine = lineAt(g, measured.lower, column, profile);
  const top = m.sub(upperLine, m.mul(thickness.upperLip, profile, LIP_PART));
  const bottom = m.add(lowerLine, m.mul(thickness.lowerLip, profile, LIP_PART));
  const length = m.sub(bottom, top);

  const count = COLUMNS.length * STEPS;
  const steps = Array.from({ length: STEPS }, (_, step) => (step + 0.5) / STEPS);
  const v = g.op('Reshape', [m.mix(top, bottom, g.weights([1, 1, STEPS], steps)), g.ints([-1, 1, count])]);
  const u = g.weights(
    [1, 1, count],
    COLUMNS.flatMap((at) => steps.map(() => at)),
  );
  const points = pointsOf(g, inUnits(g, axes, EXEMPLAR_FRAME), u, v);
  const inColumns = (values: Value): Value =>
    g.op('Reshape', [values, g.ints([0, 0, COLUMNS.length, STEPS])]);
  const [luma, chroma] = [picture.luma, picture.chroma].map((plane) =>
    inColumns(sample(g, plane, points)),
  ) as [Value, Value];
  const brightness = m.max(g.op('Squeeze', [luma, g.ints([1])]), 1e-3);
  const [, reds] = g.split(chroma, [1, 1], 1);
  const redness = m.div(g.op('Squeeze', [reds, g.ints([1])]), brightness);

  const mean = (values: Value): Value => g.op('ReduceMean', [values, g.ints([2])]);
  const lipParts = [ON_LIP, STEPS - 2 * ON_LIP, ON_LIP] as const;
  const onLips = (values: Value): { upper: Value; lower: Value } => {
    const [upper, , lower] = g.split(values, lipParts, 2);
    return { upper: m.max(mean(upper), 1e-3), lower: m.max(mean(lower), 1e-3) };
  };
  const [bright, red] = [onLips(brightness), onLips(redness)];
  const allColors = g.op('Concat', [luma, chroma], { axis: 1 });
  const [ofUpper, , ofLower] = g.split(allColors, lipParts, 3);
  const inMiddleOfLip = (values: Value): Value => g.op('ReduceMean', [values, g.ints([3])], { keepdims: 0 });
  const teethBeside = (lip: Value): Value => m.ramp(m.div(redness, lip), TEETH.not, TEETH.surely);
  const darkBeside = (lip: Value, { not, surely }: typeof BESIDE_LIP): Value =>
    m.ramp(m.div(brightness, lip), not, surely);

  // From a lip to the first point that is no lip.
  const untilFirst = (field: Value, pads: [number, number]): Value =>
    m.mul(length, mean(m.sub(1, g.op('MaxPool', [field], { kernel_shape: [STEPS], pads }))));
  const first = (field: Value): Value => m.add(top, untilFirst(field, [STEPS - 1, 0]));
  const last = (field: Value): Value => m.sub(bottom, untilFirst(field, [0, STEPS - 1]));

  const teeth = teethBeside(m.min(red.upper, red.lower));
  const between = m.max(teeth, darkBeside(m.min(bright.upper, bright.lower), BETWEEN_LIPS));
  const [from, to] = [first(between), last(between)];
  const thick = m.add(g.op('Relu', [m.sub(to, from)]), m.mul(length, mean(teeth)));
  const inMiddle = g.op('Slice', [thick, g.ints([MIDDLE[0]]), g.ints([MIDDLE[1]]), g.ints([1])]);
  const isOpen = m.max(
    m.ramp(g.op('ReduceMean', [inMiddle, g.ints([1])]), SEAM.surely, SEAM.not),
    m.ramp(gaps, APART.not, APART.surely),
  );

  const halfway = m.mul(m.add(upperLine, lowerLine), 0.5);
  const near = (value: Value, known: Value, limit: number): Value =>
    m.clamp(m.sub(value, known), -limit, limit);
  const seam = m.add(halfway, near(m.mul(m.add(from, to), 0.5), halfway, LIMIT.seam));
  const inRow = (values: Value): Value => g.op('Transpose', [values], { perm: [0, 2, 1] });
  const edge = (lip: 'upper' | 'lower', line: Value, ends: (field: Value) => Value): Value => {
    const other = m.max(teethBeside(red[lip]), darkBeside(bright[lip], BESIDE_LIP));
    const seen = g.op('ReduceMax', [other, g.ints([2])]);
    const off = m.mul(near(ends(other), line, LIMIT.edge), seen);
    const open = m.add(line, g.op('MatMul', [smoothing(g), off]));
    return inRow(m.mix(seam, open, isOpen));
  };
  return {
    upper: edge('upper', upperLine, first),
    lower: edge('lower', lowerLine, last),
    rim: inRow(m.mul(profile, isOpen, RIM)),
    isOpen,
    colors: { upper: inMiddleOfLip(ofUpper), lower: inMiddleOfLip(ofLower) },
  };
}

/** [columns, columns]: means over neighbors, because a single column may meet a gap between teeth or a gleam. */
function smoothing(g: GraphBuilder): Value {
  const size = COLUMNS.length;
  const rows = Array.from({ length: size }, (_, to) => {
    const weights = Array.from({ length: size }, (_, from) => Math.exp(-((from - to) ** 2) / 2));
    const sum = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => weight / sum);
  });
  return g.weights([size, size], rows.flat());
}

/** v in the middle of edges, [batch, 1, 1]. */
export function edgeInMiddle(g: GraphBuilder, edge: Value): Value {
  const middle = (COLUMNS.length - 1) / 2;
  return g.op('Slice', [edge, g.ints([middle]), g.ints([middle + 1]), g.ints([2])]);
}

/** How much each column says about the edge at some u [batch, 1, points]: [batch, columns, points], see edgeAt. */
export function columnWeights(g: GraphBuilder, u: Value): Value {
  const m = arithmetic(g);
  const columns = g.weights([1, COLUMNS.length, 1], COLUMNS);
  return m.ramp(g.op('Abs', [m.sub(u, columns)]), SPACING, 0);
}

/** v of edges (or colors) at the points of columnWeights; straight between columns and to the corners. */
export function edgeAt(g: GraphBuilder, edge: Value, weights: Value): Value {
  return g.op('MatMul', [edge, weights]);
}
