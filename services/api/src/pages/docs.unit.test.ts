import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ENGINES, ERROR_CATALOGUE, SYNC_MODES } from '@lipsync/contract';
import { RECORD_TTL_SECONDS, signatureHeader, SIGNED_URL_SECONDS } from '@lipsync/domain';
import { MEDIA_LIMITS } from '@lipsync/media';
import { receiveWebhook } from '../../public/samples/receive-webhook';
import { PAGES, renderPage } from './docs';

const SAMPLES = join(__dirname, '../../public/samples');
const options = {
  publicBaseUrl: 'https://api.example.com',
  hasStudio: true,
  recordTtlSeconds: RECORD_TTL_SECONDS,
  uploadTtlSeconds: SIGNED_URL_SECONDS,
};
const pages = new Map(PAGES.map((page) => [page.name, renderPage(page, options)]));
const pageNamed = (name: (typeof PAGES)[number]['name']): string => pages.get(name) ?? '';

describe('the documentation', () => {
  it.each([...pages])(
    '%s fills in every placeholder, loads from this service alone, runs nothing inline',
    (_, page) => {
      expect(page).not.toMatch(/\{\{|undefined|NaN/);
      expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/);
    },
  );

  it.each([...pages])(
    '%s has one heading, names itself in the navigation, and describes its pictures',
    (_, page) => {
      expect(page.match(/<h1>/g)).toHaveLength(1);
      expect(page.match(/aria-current="page"/g)).toHaveLength(1);
      for (const [image] of page.matchAll(/<img[^>]*>/g)) expect(image).toMatch(/ alt="[^"]+"/);
      for (const [drawing] of page.matchAll(/<svg[^>]*>/g)) expect(drawing).toMatch(/ aria-label="[^"]+"/);
    },
  );

  it('leads only to what there is', () => {
    const targets = [...pages.values()].flatMap((page) =>
      [...page.matchAll(/<a [^>]*href="([^"#]*)(#[^"]*)?"/g)].map(([, path = '', hash = '']) => ({
        path,
        hash,
      })),
    );
    const known = new Map<string, string>(PAGES.map(({ path, name }) => [path, pageNamed(name)]));
    for (const { path, hash } of targets.filter(
      ({ path }) => !['/openapi.json', '/studio', ''].includes(path),
    ))
      expect([
        path,
        hash,
        known.get(path)?.includes(hash === '' ? '<main' : `id="${hash.slice(1)}"`),
      ]).toEqual([path, hash, true]);
  });

  it('mentions the studio only where there is one', () => {
    expect(pageNamed('first-render')).toContain('href="/studio"');
    for (const page of PAGES)
      expect(renderPage(page, { ...options, hasStudio: false })).not.toContain('/studio');
  });

  it('shows the samples that are tested, with the address of this service', () => {
    const page = pageNamed('first-render');
    expect(page).toContain('LIPSYNC_BASE_URL=https://api.example.com');
    for (const line of [
      'client.renders.create',
      'urllib.request.urlopen',
      'http.NewRequest',
      'set -euo pipefail',
    ])
      expect(page).toContain(line);
    expect(pageNamed('webhooks')).toContain('hmac.Equal');
  });

  it('lists every error of the catalogue with its status, its meaning and whether it is retryable', () => {
    const rows = [...pageNamed('errors').matchAll(/<tr id=.*<\/tr>/g)].map(([row]) =>
      row.replaceAll(/<[^>]+>/g, '|'),
    );
    const errors = Object.entries(ERROR_CATALOGUE);
    expect(rows).toHaveLength(errors.length);
    for (const [i, [code, { httpStatus, retryable, message }]] of errors.entries()) {
      expect(rows[i]).toContain(`|${code}|`);
      expect(rows[i]).toContain(`|${httpStatus ?? ''}||${retryable ? 'yes' : 'no'}|`);
      expect(rows[i]).toContain(`|${message}|`);
    }
  });

  it('compares every engine of the contract', () => {
    for (const engine of ENGINES)
      expect(pageNamed('engines')).toContain(`<th scope="row"><code>${engine}</code></th>`);
  });

  it('names the limits of media that the workers check', () => {
    const { minSide, maxSide, maxPictures } = MEDIA_LIMITS;
    expect(pageNamed('limits')).toContain(`each side ${minSide} to ${maxSide} pixels`);
    expect(pageNamed('limits')).toContain(`at most ${maxPictures} pictures`);
  });

  it('says how long records and uploads live as this service is set', () => {
    const own = { ...options, recordTtlSeconds: 36 * 3_600, uploadTtlSeconds: 60 };
    const [limits, uploads] = ['limits', 'uploads'].map((name) =>
      renderPage(PAGES.find((page) => page.name === name) ?? PAGES[0], own),
    );
    expect(limits).toContain('36 hours; then 410 for 30 days');
    expect(uploads).toContain('within 1 minute.');
    for (const page of PAGES) expect(renderPage(page, own)).not.toMatch(/7 days/);
    expect(pageNamed('limits')).toContain('7 days; then 410 for 30 days');
  });

  it('draws every sync mode, as long as the service makes it', () => {
    const page = pageNamed('sync-modes');
    const seconds = { cut_off: [4, 4], bounce: [10, 4], loop: [10, 4], remap: [10, 4], silence: [10, 10] };
    for (const mode of SYNC_MODES) {
      expect(page).toContain(`"${mode}: 4 s of video and 10 s of voice give ${seconds[mode][0]} s"`);
      expect(page).toContain(`"${mode}: 10 s of video and 4 s of voice give ${seconds[mode][1]} s"`);
    }
  });
});

/** What the service sends to a receiver, now or some seconds ago. */
function delivery(signingSecret: string, secondsAgo = 0) {
  const body = '{"id":"evt_1","type":"render.completed"}';
  const t = Math.floor(Date.now() / 1000) - secondsAgo;
  const signature = signatureHeader(signingSecret, t, 'dlv_1', Buffer.from(body));
  return { body, headers: { 'Svc-Signature': signature, 'Svc-Delivery-ID': 'dlv_1' } };
}

describe('the samples that receive webhooks', () => {
  const secret = 'ab'.repeat(32);
  const forged = 'cd'.repeat(32);

  it('in TypeScript take what the service signs, and read no more than an event has', async () => {
    process.env['LIPSYNC_WEBHOOK_SECRETS'] = secret;
    const receive = async (signedWith: string, text?: string) => {
      const { body, headers } = delivery(signedWith);
      const request = { method: 'POST', body: text ?? body, headers };
      const response = await receiveWebhook(new Request('https://app.example.com/hook', request));
      return `${response.status} ${await response.text()}`;
    };
    const log = jest.spyOn(console, 'log').mockReturnValue(undefined);
    expect(await receive(secret)).toBe('204 ');
    expect(await receive(forged)).toBe('400 wrong_signature');
    expect(await receive(secret, 'x'.repeat(2 * MIB))).toBe('400 body_too_large');
    expect(log).toHaveBeenCalledWith('render.completed', 'evt_1');
  });

  it('in Python take what the service signs, and read of the rest as little as they can', async () => {
    const { body, headers } = delivery(secret);
    const old = delivery(secret, 400).headers;
    const deliveries = [
      { body, headers },
      { body, headers: delivery(forged).headers },
      { body: '{"id":"evt_2"}', headers },
      { body, headers: old },
      { body, headers: { 'Svc-Delivery-ID': 'dlv_1' } },
      { body, headers: { ...headers, 'Svc-Signature': `t=${'9'.repeat(400)},v1=${'0'.repeat(64)}` } },
      { bytes: 2 * MIB, headers },
    ];
    const { stdout } = await promisify(execFile)(
      'python3',
      ['-c', VERIFY_EACH, secret, JSON.stringify(deliveries)],
      { env: { ...process.env, PYTHONPATH: SAMPLES } },
    );
    expect(JSON.parse(stdout)).toEqual([
      ['evt_1', body.length],
      ['wrong signature', body.length],
      ['wrong signature', '{"id":"evt_2"}'.length],
      ['too old or too new', 0],
      ['malformed signature', 0],
      ['malformed signature', 0],
      ['the body is too large', MIB + 64 * 1024],
    ]);
  });
});

const MIB = 1024 * 1024;
/** Prints for each delivery what the sample says of it, and how many bytes of the body it has read. */
const VERIFY_EACH = `
import importlib, io, json, sys
sample = importlib.import_module("verify-webhook")
outcomes = []
for each in json.loads(sys.argv[2]):
    body = io.BytesIO(each["body"].encode() if "body" in each else bytes(each["bytes"]))
    headers = each["headers"]
    try:
        event = sample.verify_webhook(headers.get("Svc-Signature"), headers["Svc-Delivery-ID"], body, sys.argv[1])
        outcomes.append([event["id"], body.tell()])
    except ValueError as error:
        outcomes.append([str(error), body.tell()])
print(json.dumps(outcomes))
`;

const hasGo = spawnSync('go', ['version']).status === 0;
(hasGo ? it : it.skip)('the samples in Go are accepted by its compiler', async () => {
  for (const file of ['render.go', 'verify-webhook.go'])
    await promisify(execFile)('go', ['vet', join(SAMPLES, file)]);
});
