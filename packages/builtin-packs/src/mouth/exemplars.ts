import { EXEMPLAR_DIMS, EXEMPLAR_SIDE, EXEMPLARS } from '@lipsync/engines';
import { floatTensor, type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { FROM_RGB, LATENT_SCALE } from '../autoencoder';
import { edgeInMiddle, type LipEdges, lipEdges } from './exemplar-edges';
import { type FaceAxes, faceAxes, faceShown, turnOf } from './face-axes';
import { type FaceHabits, heightOf, type LipThickness, measuredLips, NOSE_BASE, THINNEST_LIP } from './lips';
import { skinColors } from './relighting';
import { EXEMPLAR_FRAME } from './sampling';

/** The pictures of the clip's own mouth, and their landmarks; zeros if there are none. */
export interface ExemplarInputs {
  /** uint8 [8, 3, side, side] and float32 [8, 68, 2] in pixels of the pictures. */
  readonly exemplars: Value;
  readonly exemplarLandmarks: Value;
}

/** As a manifest declares them. */
export const EXEMPLAR_TENSORS = {
  exemplars: {
    name: 'exemplars',
    dtype: 'uint8' as const,
    dims: EXEMPLAR_DIMS.exemplars,
    range: [0, 255] as [number, number],
  },
  exemplar_landmarks: floatTensor('exemplar_landmarks', EXEMPLAR_DIMS.exemplar_landmarks, [0, EXEMPLAR_SIDE]),
};

/** For probes: gray pictures, whose landmarks all lie in one point, which means no face. */
export const EXEMPLAR_FILL = { exemplars: 128, exemplar_landmarks: EXEMPLAR_SIDE / 2 };

export function exemplarInputs(g: GraphBuilder): ExemplarInputs {
  return {
    exemplars: g.input('exemplars', 'uint8', EXEMPLAR_DIMS.exemplars),
    exemplarLandmarks: g.input('exemplar_landmarks', 'float32', EXEMPLAR_DIMS.exemplar_landmarks),
  };
}

/** The clip's own mouth at several openings, the closed one first. All tables have a row per exemplar. */
export interface Ladder {
  /** Brightness relative to black [8, 1, side, side] and color differences [8, 2, side, side], scaled as in the latent. */
  readonly luma: Value;
  readonly chroma: Value;
  readonly axes: FaceAxes;
  readonly edges: LipEdges;
  /** How far the lips are apart, beyond what the landmarks report for closed ones; [8, 1, 1]. */
  readonly gaps: Value;
  /** Colors of the skin around the mouth, see skinColors. */
  readonly skin: Value;
  readonly thickness: LipThickness;
  /** One for each exemplar. */
  readonly thicknesses: LipThickness;
  readonly habits: FaceHabits;
}

/** Without exemplars: what landmarks report for closed lips, a wide vowel of an average face. */
const DEFAULT = { closedGap: 0.06, widestGap: 0.38, lip: 0.25 };
/** Closed lips are seldom measured further apart; then they are not closed. */
const CLOSED_GAP = { margin: 0.02, least: 0.04, most: 0.17 };
/** A face that opens its mouth less does not speak in the clip. One that shouts must not do so in every vowel. */
const SPEAKS = { from: 0.12, surely: 0.22 };
/** The widest openings of a clip are laughs and shouts as well as vowels. */
const SPOKEN_SHARE = 0.95;
const WIDEST_GAP = { least: 0.26, most: 0.78 };
/** Exemplars whose openings differ by less count as equal. */
const LEAST_STEP = 0.03;

export function ladder(g: GraphBuilder, { exemplars, exemplarLandmarks }: ExemplarInputs): Ladder {
  const m = arithmetic(g);
  const rows = FROM_RGB.flatMap((weights) => weights.map((weight) => (weight * 2 * LATENT_SCALE) / 255));
  const pixels = g.op('Reshape', [g.op('Cast', [exemplars], { to: 1 }), g.ints([EXEMPLARS, 3, -1])]);
  const planes = g.op('Reshape', [
    g.op('MatMul', [g.weights([3, 3], rows), pixels]),
    g.ints(EXEMPLAR_DIMS.exemplars),
  ]);
  const [luma, chroma] = g.split(planes, [1, 2], 1);
  const axes = faceAxes(g, exemplarLandmarks);
  const lips = measuredLips(g, axes);

  const overAll = (op: string, value: Value): Value => g.op(op, [value, g.ints([0])]);
  const known = faceShown(g, overAll('ReduceMin', axes.downLength));
  const closed = m.clamp(
    m.add(overAll('ReduceMin', lips.gap), CLOSED_GAP.margin),
    CLOSED_GAP.least,
    CLOSED_GAP.most,
  );
  const gaps = g.op('Relu', [m.sub(lips.gap, m.sub(closed, CLOSED_GAP.margin))]);
  const widest = overAll('ReduceMax', gaps);
  const own = m.clamp(m.mul(widest, SPOKEN_SHARE), WIDEST_GAP.least, WIDEST_GAP.most);
  const first = (value: Value): Value => g.op('Slice', [value, g.ints([0]), g.ints([1]), g.ints([0])]);
  const between = (outer: number, inner: number): Value => {
    const lip = m.sub(heightOf(g, axes.landmarks, outer), heightOf(g, axes.landmarks, inner));
    return m.mix(
      g.scalar(DEFAULT.lip),
      m.max(g.op('Abs', [overAll('ReduceMean', lip)]), THINNEST_LIP),
      known,
    );
  };
  const thickness = { upperLip: between(51, 62), lowerLip: between(57, 66) };
  const edges = lipEdges(g, { luma, chroma }, axes, { measured: lips, gaps, thickness });
  const [upperEdge, lowerEdge] = [edgeInMiddle(g, edges.upper), edgeInMiddle(g, edges.lower)];
  // The outer edges are where the landmarks say.
  const thicknesses = {
    upperLip: m.max(m.add(lips.thickness.upperLip, m.sub(upperEdge, lips.upper.height)), THINNEST_LIP),
    lowerLip: m.max(m.add(lips.thickness.lowerLip, m.sub(lips.lower.height, lowerEdge)), THINNEST_LIP),
  };
  return {
    thickness,
    thicknesses,
    luma,
    chroma,
    axes,
    edges,
    gaps,
    skin: skinColors(g, { luma, chroma }, axes, lips, thickness, EXEMPLAR_FRAME),
    habits: {
      known,
      closedGap: m.mix(g.scalar(DEFAULT.closedGap), closed, known),
      widestGap: m.mix(
        g.scalar(DEFAULT.widestGap),
        own,
        m.mul(known, m.ramp(widest, SPEAKS.from, SPEAKS.surely)),
      ),
      mouthWidth: overAll('ReduceMean', axes.mouthWidth),
      chin: first(lips.chin),
      seam: first(m.mul(m.add(upperEdge, lowerEdge), 0.5)),
      nose: first(heightOf(g, axes.landmarks, NOSE_BASE)),
    },
  };
}

/** The lips that the exemplars show in this frame; its own where they say nothing. */
export function shownThickness(
  g: GraphBuilder,
  { thicknesses }: Ladder,
  { rungs: [first, next], second, weight }: Rungs,
  own: LipThickness,
): LipThickness {
  const m = arithmetic(g);
  const shown = (name: keyof LipThickness): Value =>
    m.mix(own[name], m.mix(first.of(thicknesses[name]), next.of(thicknesses[name]), second), weight);
  return { upperLip: shown('upperLip'), lowerLip: shown('lowerLip') };
}

/** The exemplars that a frame shows. */
export interface Rungs {
  /** The two between whose openings the target's lies. */
  readonly rungs: readonly [Rung, Rung];
  /** The one that shows what is behind the lips, in all frames the same: teeth must not change. */
  readonly widest: Rung;
  /** 0 for the first exemplar, 1 for the second, [batch, 1, 1]. */
  readonly second: Value;
  /** How much the exemplars say about this frame: 0 if there are none, or if the head is turned otherwise. */
  readonly weight: Value;
  /** How far the target opens beyond the widest exemplar: 0 within, 1 where it has nothing to show. */
  readonly beyond: Value;
}

/** One exemplar per frame of the batch, or one for all. */
export interface Rung {
  /** Gathers rows of a table of the ladder. */
  readonly of: (table: Value) => Value;
}

/** The exemplar that shows what is behind the lips. */
const BEHIND_LIPS = EXEMPLARS - 1;

/** Where between two exemplars one takes over from the other. Shown at once, lips of one lie on teeth of the other. */
const TAKEOVER = { from: 0.25, to: 0.75 };
/** How far the widest mouth can be stretched before it has nothing to show: so many times its gap, and a bit. */
const BEYOND = { from: { times: 1.25, more: 0.04 }, surely: { times: 1.8, more: 0.14 } };
/** Heads that are turned this much further than that of the exemplar, in half mouths of the nose, show another mouth. */
const TURN = { same: 0.2, other: 0.45 };

export function rungsFor(g: GraphBuilder, ladder: Ladder, axes: FaceAxes, gap: Value): Rungs {
  const m = arithmetic(g);
  const { gaps } = ladder;
  const part = (from: number, to: number): Value =>
    g.op('Slice', [gaps, g.ints([from]), g.ints([to]), g.ints([0])]);
  const [below, above] = [part(0, EXEMPLARS - 1), part(1, EXEMPLARS)].map((table) =>
    g.op('Reshape', [table, g.ints([1, 1, EXEMPLARS - 1])]),
  ) as [Value, Value];
  const passed = m.clamp(m.div(m.sub(gap, below), m.max(m.sub(above, below), LEAST_STEP)), 0, 1);
  const place = g.op('ReduceSum', [passed, g.ints([2])]);
  const floor = m.min(g.op('Floor', [place]), EXEMPLARS - 2);
  const index = g.op('Cast', [g.op('Squeeze', [floor, g.ints([1, 2])])], { to: 7 });
  const rung = (step: 0 | 1): Rung => {
    const at = step === 0 ? index : g.op('Add', [index, g.ints([1])]);
    return { of: (table) => g.op('Gather', [table, at], { axis: 0 }) };
  };
  const rungs = [rung(0), rung(1)] as const;
  const open = g.ints([BEHIND_LIPS]);
  const turned = g.op('Abs', [m.sub(turnOf(g, axes), rungs[0].of(turnOf(g, ladder.axes)))]);
  const seen = faceShown(g, axes.downLength);
  const widest = g.op('ReduceMax', [gaps, g.ints([0])]);
  const stretched = ({ times, more }: { times: number; more: number }): Value =>
    m.add(m.mul(widest, times), more);
  return {
    rungs,
    widest: { of: (table) => g.op('Gather', [table, open], { axis: 0 }) },
    second: m.smooth(m.ramp(m.sub(place, floor), TAKEOVER.from, TAKEOVER.to)),
    weight: m.mul(ladder.habits.known, seen, m.ramp(turned, TURN.other, TURN.same)),
    beyond: m.smooth(m.ramp(gap, stretched(BEYOND.from), stretched(BEYOND.surely))),
  };
}
