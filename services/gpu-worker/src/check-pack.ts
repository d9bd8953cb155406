import { createInferenceHost } from './host/inference-host';
import { reportOnPack } from './host/report-on-pack';
import { type PackReport } from './protocol/messages';

/**
 * What a worker would say of a pack at its start, from an inference process of its own: manifest, digests, graphs,
 * probes, and the provider that they run on. `entry` is the compiled child, by default the one of this package.
 * Never rejects: it reports.
 */
export async function checkPack(packDir: string, options: { entry?: string } = {}): Promise<PackReport> {
  const host = createInferenceHost(options);
  try {
    return await reportOnPack(packDir, host);
  } finally {
    host.kill();
  }
}
