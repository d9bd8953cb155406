import { createInferenceHost } from './host/inference-host';
import { reportOnPack } from './host/report-on-pack';
import { type PackReport } from './protocol/messages';

/**
 * Reports what a worker would find out about a pack when it starts, using an inference process of its own: manifest,
 * digests, graphs, probes, and the provider that the graphs run on. `entry` is the compiled child, by default this
 * package's. Never rejects: failures are part of the report.
 */
export async function checkPack(packDir: string, options: { entry?: string } = {}): Promise<PackReport> {
  const host = createInferenceHost(options);
  try {
    return await reportOnPack(packDir, host);
  } finally {
    host.kill();
  }
}
