import { type Engine } from '@lipsync/contract';
import { mean } from '@lipsync/local-stack';
import { type Count, type Vowel } from './figures';
import { type ClipFigures } from './measure-clip';

/** What is asked of a figure. */
interface Bounds {
  readonly least?: number;
  readonly most?: number;
}

const isWithin = (value: number, { least = -Infinity, most = Infinity }: Bounds): boolean =>
  value >= least && value <= most;

function inWords({ least, most }: Bounds): string {
  if (least === undefined) return `at most ${most}`;
  return most === undefined ? `at least ${least}` : `${least} to ${most}`;
}

/** Lips lead by up to two frames of 25 a second. A clip whose lips do not fails the measurement. */
const LEAD_MS: Bounds = { least: 0, most: 80 };
export const isInTime = (leadMs: number): boolean => isWithin(leadMs, LEAD_MS);

/** Fewer sounds than this say nothing about a vowel. */
const ENOUGH = 3;
const hasVowels = ({ vowels }: ClipFigures, ...needed: readonly Vowel[]): boolean =>
  needed.every((vowel) => vowels[vowel] >= ENOUGH);

function widthRatio(clip: ClipFigures): number | null {
  if (!hasVowels(clip, 'i', 'u')) return null;
  return clip.lip_width_i_over_u ?? clip.width_i / clip.width_u;
}

const openingRatio = (clip: ClipFigures): number | null =>
  hasVowels(clip, 'a', 'i') ? clip.opening_a / clip.opening_i : null;

/**
 * An engine's figures over all of its clips, what is asked of them, and whether it holds. A figure that no clip has is
 * left out.
 */
export function summaryOf(engine: Engine, all: readonly ClipFigures[]): Readonly<Record<string, unknown>> {
  const clips = all.filter((clip) => clip.engine === engine);
  /** The share over all sounds of all clips. */
  const share = (count: (clip: ClipFigures) => Count, asked: Bounds) => {
    const counts = clips.map(count);
    const sum = (of: (count: Count) => number): number => counts.reduce((total, next) => total + of(next), 0);
    if (sum(({ cases }) => cases) === 0) return undefined;
    const value = sum(({ done }) => done) / sum(({ cases }) => cases);
    return { share: value, asked: inWords(asked), holds: isWithin(value, asked) };
  };
  /** On every clip. */
  const each = (figure: (clip: ClipFigures) => number | null, asked: Bounds) => {
    const values = clips.map(figure).filter((value) => value !== null);
    if (values.length === 0) return undefined;
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const holds = values.every((value) => isWithin(value, asked));
    return { mean: mean(values), least, most, asked: inWords(asked), holds };
  };
  return {
    engine,
    closures: share((clip) => clip.closures, { least: 0.9 }),
    lips_touch: share((clip) => clip.lips_touch, { least: 0.9 }),
    false_closures: share((clip) => clip.false_closures, { most: 0.15 }),
    dentals: share((clip) => clip.dentals, { least: 0.7 }),
    false_dentals: share((clip) => clip.false_dentals, { most: 0.3 }),
    width_i_over_u: each(widthRatio, { least: 1.15 }),
    opening_a_over_i: each(openingRatio, { least: 1.5 }),
    // A mouth that does not follow has no lead, and no clip may be like that.
    lead_ms: each((clip) => clip.lead_ms ?? NaN, LEAD_MS),
    first_axis_share: each((clip) => clip.first_axis_share, { most: 0.8 }),
    width_range: each((clip) => clip.width_range, { least: 0.1 }),
    opening_speed: each((clip) => clip.opening_speed, { least: 0.3, most: 0.6 }),
    amplitude: each((clip) => clip.amplitude, { least: 0.67, most: 1.5 }),
    sharpness: each((clip) => clip.sharpness, { least: 0.85 }),
    alternation: each((clip) => clip.alternation, { least: 0.9 }),
    residue: each((clip) => clip.residue, { most: 1.2 }),
    flicker: each((clip) => clip.flicker, { most: 1 }),
    teeth_change: each((clip) => clip.teeth_change, { most: 1.5 }),
    texture_above: each((clip) => clip.texture_above, { least: 0.9 }),
    texture_below: each((clip) => clip.texture_below, { least: 0.9 }),
    silent_opening: each((clip) => clip.silent_opening, { most: 0.02 }),
  };
}
