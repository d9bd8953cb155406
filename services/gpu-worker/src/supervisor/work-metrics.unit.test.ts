import { createMetrics } from '@lipsync/telemetry';
import { parseExposition } from '@lipsync/testkit';
import { type RenderResult } from '../protocol/messages';
import { renderResult } from '../test/scripted-host';
import { podUsage } from '../usage/pod-meter';
import { createWorkMetrics } from './work-metrics';

const engine = 'latentsync';

/** The metrics after a render of this quality, see `renderResult`. */
async function toldAfter(quality: Partial<RenderResult['quality']>) {
  const metrics = createMetrics();
  const result = renderResult();
  createWorkMetrics(metrics).rendered({
    engine,
    inputs: { video: 'hit', audio: 'hit' },
    track: { from: 'cache', analysis: null },
    features: null,
    fetchMs: 0,
    signMs: 0,
    uploadMs: 0,
    usage: {
      gpu_inference_seconds: null,
      gpu_models: [],
      ...podUsage({ bill: null, seconds: 1, slots: 1, claims: 1 }),
    },
    result: { ...result, quality: { ...result.quality, ...quality } },
  });
  const told = parseExposition(await metrics.text());
  return (name: string) => ({
    count: told.value(`lipsync_render_${name}_count`, { engine }) ?? 0,
    sum: told.value(`lipsync_render_${name}_sum`, { engine }) ?? 0,
  });
}

test('sync, seam, skin and faceless frames of a render are exported by engine', async () => {
  const told = await toldAfter({});
  expect(told('sync_correlation')).toEqual({ count: 1, sum: 0.75 });
  expect(told('sync_lag_seconds')).toEqual({ count: 1, sum: 0.04 });
  expect(told('seam_levels')).toEqual({ count: 1, sum: 2.5 });
  expect(told('skin_psnr_db')).toEqual({ count: 1, sum: 38 });
  expect(told('without_face_ratio')).toEqual({ count: 1, sum: 0.25 });
});

test('a missing measurement is not exported as zero', async () => {
  const unmeasured = { syncCorrelation: null, syncLagSeconds: null, seamLevels: null, skinPsnrDb: null };
  const told = await toldAfter(unmeasured);
  for (const name of ['sync_correlation', 'sync_lag_seconds', 'seam_levels', 'skin_psnr_db'])
    expect(told(name).count).toBe(0);
});
