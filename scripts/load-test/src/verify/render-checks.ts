import { type RenderFlaw, type TrackedRender } from '../renders/tracked-render';
import { percent } from '../report/format';
import { type Check } from './check';
import { type Evidence } from './evidence';

/** Checks of every accepted render's life. */
export const RENDER_CHECKS: readonly Check[] = [
  {
    id: 'renders_end',
    title: 'Every accepted render ends',
    examine: ({ renders, drainSeconds }) => ({
      examined: renders.length,
      failures: renders
        .filter(({ end }) => end === null)
        .map(({ id, status, progress }) => `${id}: still ${status} at ${progress} %`),
      note: `Within ${drainSeconds} s after the last arrival.`,
    }),
  },
  {
    id: 'renders_succeed',
    title: 'Renders do not fail',
    examine: ({ renders, maxFailureRatio }) => {
      const ended = renders.filter(({ end }) => end !== null);
      return {
        examined: ended.length,
        failures: ended
          .filter(({ end }) => end?.status === 'failed')
          .map(({ id, end }) => `${id}: ${end?.errorCode ?? 'without an error'}`),
        tolerated: Math.floor(ended.length * maxFailureRatio),
        note: `${percent(maxFailureRatio)} are tolerated.`,
      };
    },
  },
  {
    id: 'terminal_states_final',
    title: 'A render that has ended never changes again',
    examine: (evidence) => ({
      examined: evidence.renders.length,
      failures: [...flawsOf(evidence.renders, 'terminal_changed'), ...changedAtTheEnd(evidence)],
      note: `Every answer of the run, and ${evidence.rechecked.length} renders once more at the end.`,
    }),
  },
  {
    id: 'states_move_forward',
    title: 'No render goes back to an earlier state',
    examine: ({ renders }) => ({ examined: renders.length, failures: flawsOf(renders, 'went_backwards') }),
  },
  {
    id: 'progress_monotone',
    title: 'Progress never falls',
    examine: ({ renders }) => ({ examined: renders.length, failures: flawsOf(renders, 'progress_fell') }),
  },
  {
    id: 'outputs_downloadable',
    title: 'Outputs can be downloaded and are videos',
    examine: ({ outputs }) => ({
      examined: outputs.length,
      failures: outputs
        .filter(({ problem }) => problem !== null)
        .map(({ renderId, engine, problem }) => `${renderId} ${engine}: ${problem}`),
      note: 'A sample of the completed renders.',
    }),
  },
];

function flawsOf(renders: readonly TrackedRender[], kind: RenderFlaw['kind']): string[] {
  return renders.flatMap(({ id, flaws }) =>
    flaws.filter((flaw) => flaw.kind === kind).map(({ detail }) => `${id}: ${detail}`),
  );
}

function changedAtTheEnd({ renders, rechecked }: Evidence): string[] {
  const ends = new Map(renders.map(({ id, end }) => [id, end?.status]));
  return rechecked.flatMap(({ id, status }) => {
    const end = ends.get(id);
    return end === undefined || status === end ? [] : [`${id}: ${end} became ${status ?? 'unknown'}`];
  });
}
