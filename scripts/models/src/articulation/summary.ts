import { type Engine } from '@lipsync/contract';
import { mean } from '@lipsync/local-stack';
import { type Count, type Vowel } from './figures';
import { type ClipFigures } from './measure-clip';

/** Fewer sounds than this say nothing about a vowel. */
const ENOUGH = 3;
const hasVowels = ({ vowels }: ClipFigures, ...needed: readonly Vowel[]): boolean =>
  needed.every((vowel) => vowels[vowel] >= ENOUGH);

/** Lips lead by up to two frames of 25 a second. A clip whose lips do not fails the measurement. */
export const isInTime = (leadMs: number): boolean => leadMs >= 0 && leadMs <= 80;

/**
 * An engine's figures over all of its clips, what is asked of them, and whether it holds. A figure that no clip has is
 * left out.
 */
export function summaryOf(engine: Engine, all: readonly ClipFigures[]): Readonly<Record<string, unknown>> {
  const clips = all.filter((clip) => clip.engine === engine);
  /** The share over all sounds of all clips. */
  const share = (count: (clip: ClipFigures) => Count, asked: string, holds: (share: number) => boolean) => {
    const counts = clips.map(count);
    const sum = (of: (count: Count) => number): number => counts.reduce((total, next) => total + of(next), 0);
    if (sum(({ cases }) => cases) === 0) return undefined;
    const value = sum(({ done }) => done) / sum(({ cases }) => cases);
    return { share: value, asked, holds: holds(value) };
  };
  /** On every clip. */
  const each = (
    value: (clip: ClipFigures) => number | null,
    asked: string,
    holds: (value: number) => boolean,
  ) => {
    const values = clips.map(value).filter((figure) => figure !== null);
    if (values.length === 0) return undefined;
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return { mean: mean(values), least, most, asked, holds: values.every(holds) };
  };
  return {
    engine,
    closures: share(
      (clip) => clip.closures,
      'at least 0.9',
      (x) => x >= 0.9,
    ),
    lips_touch: share(
      (clip) => clip.lips_touch,
      'at least 0.9',
      (x) => x >= 0.9,
    ),
    false_closures: share(
      (clip) => clip.false_closures,
      'at most 0.15',
      (x) => x <= 0.15,
    ),
    dentals: share(
      (clip) => clip.dentals,
      'at least 0.7',
      (x) => x >= 0.7,
    ),
    false_dentals: share(
      (clip) => clip.false_dentals,
      'at most 0.3',
      (x) => x <= 0.3,
    ),
    width_i_over_u: each(
      (clip) => (hasVowels(clip, 'i', 'u') ? (clip.lip_width_i_over_u ?? clip.width_i / clip.width_u) : null),
      'at least 1.15',
      (x) => x >= 1.15,
    ),
    opening_a_over_i: each(
      (clip) => (hasVowels(clip, 'a', 'i') ? clip.opening_a / clip.opening_i : null),
      'at least 1.5',
      (x) => x >= 1.5,
    ),
    // A mouth that does not follow has no lead, and no clip may be like that.
    lead_ms: each((clip) => clip.lead_ms ?? NaN, '0 to 80', isInTime),
    first_axis_share: each(
      (clip) => clip.first_axis_share,
      'at most 0.8',
      (x) => x <= 0.8,
    ),
    width_range: each(
      (clip) => clip.width_range,
      'at least 0.1',
      (x) => x >= 0.1,
    ),
    opening_speed: each(
      (clip) => clip.opening_speed,
      '0.3 to 0.6',
      (x) => x >= 0.3 && x <= 0.6,
    ),
    amplitude: each(
      (clip) => clip.amplitude,
      '0.67 to 1.5',
      (x) => x >= 1 / 1.5 && x <= 1.5,
    ),
    sharpness: each(
      (clip) => clip.sharpness,
      'at least 0.85',
      (x) => x >= 0.85,
    ),
    alternation: each(
      (clip) => clip.alternation,
      'at least 0.9',
      (x) => x >= 0.9,
    ),
    residue: each(
      (clip) => clip.residue,
      'at most 1.2',
      (x) => x <= 1.2,
    ),
    flicker: each(
      (clip) => clip.flicker,
      'at most 1',
      (x) => x <= 1,
    ),
    teeth_change: each(
      (clip) => clip.teeth_change,
      'at most 1.5',
      (x) => x <= 1.5,
    ),
    texture_above: each(
      (clip) => clip.texture_above,
      'at least 0.9',
      (x) => x >= 0.9,
    ),
    texture_below: each(
      (clip) => clip.texture_below,
      'at least 0.9',
      (x) => x >= 0.9,
    ),
    silent_opening: each(
      (clip) => clip.silent_opening,
      'at most 0.02',
      (x) => x <= 0.02,
    ),
  };
}
