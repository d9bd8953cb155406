import { writeFile } from 'node:fs/promises';
import { createLogger } from '@lipsync/runtime';
import { createMetrics } from '@lipsync/telemetry';
import {
  createSigningCertificate,
  parseExposition,
  type SigningCertificate,
  testFolder,
} from '@lipsync/testkit';
import { openOutputMarks } from './output-marks';

const at = testFolder();
let certificate: SigningCertificate;
beforeAll(async () => {
  certificate = await createSigningCertificate();
});

const facts = {
  source: '/nowhere/video',
  agent: { name: 'musetalk', version: '1' },
  videoSha256: '',
  voiceSha256: '',
  when: new Date(0),
};

/** The marks for these settings, and what the worker says about them at its start. */
async function open(mode: 'off' | 'on' | 'required', pair: Partial<SigningCertificate>) {
  const said: string[] = [];
  const logger = {
    ...createLogger({ service: 'test', level: 'silent' }),
    info: (message: string) => void said.push(message),
    warn: (message: string) => void said.push(message),
    error: (message: string) => void said.push(message),
  };
  const env = {
    CONTENT_CREDENTIALS: mode,
    CONTENT_CREDENTIALS_CERTIFICATE: pair.chain,
    CONTENT_CREDENTIALS_KEY: pair.key,
  };
  const metrics = createMetrics();
  const marks = await openOutputMarks({ env, version: '1.0.0', logger, metrics });
  return { marks, said, metrics };
}

test('without a certificate a worker says once that outputs are unmarked, unless they need not be', async () => {
  const { marks, said } = await open('on', {});
  expect(said).toEqual(['outputs are not marked: there is no certificate for content credentials']);
  expect(await marks.mark('/nowhere/output', facts)).toBe('off');
  expect((await open('off', {})).said).toEqual([]);
  expect((await open('off', certificate)).said).toEqual([]);
});

test('a worker does not start where a certificate is required and absent, incomplete or unusable', async () => {
  await expect(open('required', {})).rejects.toThrow('need CONTENT_CREDENTIALS_CERTIFICATE and _KEY');
  await expect(open('on', { chain: certificate.chain })).rejects.toThrow('_CERTIFICATE and _KEY');
  const other = await createSigningCertificate();
  await expect(open('on', { ...certificate, key: other.key })).rejects.toThrow('not the key of');
});

test('an output that cannot be signed is delivered unsigned and logged, but not where signatures are required', async () => {
  const { marks, said, metrics } = await open('on', certificate);
  expect(await marks.mark('/nowhere/output', facts)).toBe('failed');
  expect(said).toEqual(['outputs are marked', 'an output could not be marked']);
  const told = parseExposition(await metrics.text());
  expect(told.value('lipsync_outputs_marked_total', { marking: 'failed' })).toBe(1);
  const required = await open('required', certificate);
  await expect(required.marks.mark('/nowhere/output', facts)).rejects.toThrow('ENOENT');
});

test('a scrape tells when the certificate expires that is there, also of a worker that signs nothing', async () => {
  const files = { chain: at('chain.pem'), key: at('key.pem') };
  const write = async (days: number): Promise<void> => {
    const pair = await createSigningCertificate({ validity: { from: -1000, to: days * 86_400_000 } });
    await Promise.all([writeFile(files.chain, pair.chain), writeFile(files.key, pair.key)]);
  };
  await write(1);
  const { metrics } = await open('on', files);
  const daysLeft = async (): Promise<number> => {
    const expiry = parseExposition(await metrics.text()).value(
      'lipsync_signing_certificate_expiry_timestamp_seconds',
      {},
    );
    return Math.round((Number(expiry) - Date.now() / 1000) / 86_400);
  };
  expect(await daysLeft()).toBe(1);
  await write(90);
  expect(await daysLeft()).toBe(90);
});

test('where signatures are required and the certificate has expired, no render begins', async () => {
  const soon = await createSigningCertificate({ validity: { from: -1000, to: 1800_000 } });
  const { marks } = await open('required', soon);
  await expect(marks.check()).resolves.toBeUndefined();
  jest.useFakeTimers({ now: Date.now() + 3600_000 });
  try {
    await expect(marks.check()).rejects.toThrow('the certificate expired at');
  } finally {
    jest.useRealTimers();
  }
});
