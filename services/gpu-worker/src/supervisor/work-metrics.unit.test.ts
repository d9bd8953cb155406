import { createMetrics } from '@lipsync/telemetry';
import { parseExposition } from '@lipsync/testkit';
import { createStageClock } from '../inference/job';
import { type RenderResult } from '../protocol/messages';
import { createWorkMetrics } from './work-metrics';

const engine = 'latentsync';
const GOOD: RenderResult['quality'] = {
  ...{ syncCorrelation: 0.75, syncLagFrames: 1, seamLevels: 2.5, skinPsnrDb: 38, facelessShare: 0.25 },
  ...{ enlargedShare: 0, largestEnlargement: 0.8, sampledFrames: 75, problem: null },
};

/** The metrics after a render of this quality. */
async function toldAfter(quality: RenderResult['quality']) {
  const metrics = createMetrics();
  createWorkMetrics(metrics).rendered({
    ...{ engine, inputs: { video: 'hit', audio: 'hit' } },
    ...{ track: { from: 'cache', analysis: null }, features: null },
    ...{ fetchMs: 0, uploadMs: 0 },
    usage: {
      ...{ gpu_inference_seconds: null, billed_pod_seconds: null, observed_pod_seconds: null },
      ...{ estimated_compute_usd: null, gpu_models: [], estimate_coverage: 'unavailable' },
    },
    result: {
      ...{
        type: 'render',
        inputAudioSeconds: 1,
        outputSeconds: 1,
        width: 16,
        height: 16,
        renderedFrames: 25,
      },
      ...{
        featuresAdded: 0,
        detectorRuns: 0,
        replacedCodecs: [],
        gpuInferenceMs: null,
        graphFailed: false,
        quality,
      },
      timings: createStageClock().timings(),
    },
  });
  const told = parseExposition(await metrics.text());
  return (name: string) => ({
    count: told.value(`lipsync_render_${name}_count`, { engine }) ?? 0,
    sum: told.value(`lipsync_render_${name}_sum`, { engine }) ?? 0,
  });
}

test('sync, seam, skin and faceless frames of a render are exported by engine', async () => {
  const told = await toldAfter(GOOD);
  expect(told('sync_correlation')).toEqual({ count: 1, sum: 0.75 });
  expect(told('sync_lag_seconds')).toEqual({ count: 1, sum: 0.04 });
  expect(told('seam_levels')).toEqual({ count: 1, sum: 2.5 });
  expect(told('skin_psnr_db')).toEqual({ count: 1, sum: 38 });
  expect(told('without_face_ratio')).toEqual({ count: 1, sum: 0.25 });
});

test('a missing measurement is not exported as zero', async () => {
  const unmeasured = { syncCorrelation: null, syncLagFrames: null, seamLevels: null, skinPsnrDb: null };
  const told = await toldAfter({ ...GOOD, ...unmeasured });
  for (const name of ['sync_correlation', 'sync_lag_seconds', 'seam_levels', 'skin_psnr_db'])
    expect(told(name).count).toBe(0);
});
