import { type CleanFace, type OccluderFigures } from './measure-occluder';

/** What is asked of all clips together, what was found, and whether it holds. */
export function occlusionSummary(faces: readonly CleanFace[], clips: readonly OccluderFigures[]) {
  const share = (
    count: (clip: OccluderFigures) => { readonly done: number; readonly cases: number },
  ): number => {
    const sum = (part: 'done' | 'cases'): number =>
      clips.reduce((total, clip) => total + count(clip)[part], 0);
    return sum('done') / sum('cases');
  };
  const least = (value: number, bound: number) => ({
    value,
    asked: `at least ${bound}`,
    holds: value >= bound,
  });
  const most = (value: number, bound: number) => ({
    value,
    asked: `at most ${bound}`,
    holds: value <= bound,
  });
  return {
    kept: least(
      share(({ kept }) => kept),
      0.98,
    ),
    generated: least(Math.min(...clips.map(({ generated }) => generated)), 0.9),
    jump: most(Math.max(0, ...clips.map(({ jump }) => jump ?? 0)), 1.5),
    withheld_of_clean: most(Math.max(...faces.map(({ withheld }) => withheld)), 0.005),
    // What an encoder does by itself.
    kept_elsewhere: share((clip) => clip.kept_elsewhere),
    hidden: share(({ hidden }) => hidden),
  };
}
