import { CredentialsError, markOutput, openSigner, type Provenance } from '@lipsync/credentials';
import { type Logger } from '@lipsync/runtime';
import { type Metrics } from '@lipsync/telemetry';
import { type GpuWorkerEnv } from '../env';

/** What became of an output's content credentials. */
export type Marking = 'signed' | 'failed' | 'off';

/** Marks finished outputs with content credentials, as CONTENT_CREDENTIALS says. */
export interface OutputMarks {
  /** Rejects with CredentialsError where outputs must be signed and can no longer be: before a render, not after. */
  check(): Promise<void>;
  /**
   * Signs an MP4 in place. `source`: the path of the video that it was made of. Rejects where outputs must be signed;
   * elsewhere a failure is logged, and the output stays as it was.
   */
  mark(file: string, facts: Omit<Provenance, 'generator'> & { readonly source: string }): Promise<Marking>;
}

const SERVICE_NAME = 'lipsync-service';

type Settings = Pick<
  GpuWorkerEnv,
  'CONTENT_CREDENTIALS' | 'CONTENT_CREDENTIALS_CERTIFICATE' | 'CONTENT_CREDENTIALS_KEY'
>;

/**
 * Opens the operator's certificate and says in the log who signs, or that nobody does. Rejects with CredentialsError
 * when a certificate is set that cannot sign, or none where one is required.
 */
export async function openOutputMarks(options: {
  env: Settings;
  version: string;
  logger: Logger;
  metrics: Metrics;
}): Promise<OutputMarks> {
  const { env, version, logger, metrics } = options;
  const { CONTENT_CREDENTIALS: mode } = env;
  const certificate = env.CONTENT_CREDENTIALS_CERTIFICATE;
  const key = env.CONTENT_CREDENTIALS_KEY;
  if (mode === 'off') return UNMARKED;
  if (certificate === undefined || key === undefined) {
    if (mode === 'required' || certificate !== undefined || key !== undefined)
      throw new CredentialsError('content credentials need CONTENT_CREDENTIALS_CERTIFICATE and _KEY');
    logger.warn('outputs are not marked: there is no certificate for content credentials');
    return UNMARKED;
  }
  const signer = await openSigner({
    certificate,
    key,
    onProblem: (error) => logger.error('the new certificate for content credentials is not used', { error }),
  });
  const { subject, expiresAt } = await signer.identity();
  logger.info('outputs are marked', { signer: subject, certificate_expires_at: expiresAt.toISOString() });
  const expiry = metrics.gauge('signing_certificate_expiry_timestamp_seconds');
  // A worker that has nothing to sign also notices that the certificate was renewed.
  metrics.onScrape(async () => {
    const current = await signer.identity();
    expiry.set({}, current.expiresAt.getTime() / 1000);
  });
  const generator = { name: SERVICE_NAME, version };
  const marked = metrics.counter('outputs_marked_total');
  return {
    check: async () => {
      if (mode === 'required') await signer.identity();
    },
    mark: async (file, facts) => {
      try {
        await markOutput(signer, file, { ...facts, generator });
        marked.inc({ marking: 'signed' });
        return 'signed';
      } catch (error) {
        if (mode === 'required') throw error;
        logger.error('an output could not be marked', { error });
        marked.inc({ marking: 'failed' });
        return 'failed';
      }
    },
  };
}

/** Leaves outputs as they are. */
export const UNMARKED: OutputMarks = { check: () => Promise.resolve(), mark: () => Promise.resolve('off') };
