import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LipSync } from '@lipsync/client';
import { ENGINES, ERROR_CATALOGUE, openapiDocument, OPERATIONS, SYNC_MODES } from '@lipsync/contract';
import { RECORD_TTL_SECONDS, signatureHeader, SIGNED_URL_SECONDS } from '@lipsync/domain';
import { MEDIA_LIMITS } from '@lipsync/media';
import { buildSite } from '@lipsync/site';
import { hasPython } from '@lipsync/testkit';
import { receiveWebhook } from '../../public/samples/receive-webhook';
import { filledDocuments } from './docs';

const PUBLIC = join(__dirname, '../../public');
const SAMPLES = join(PUBLIC, 'samples');
const options = {
  publicBaseUrl: 'https://api.example.com',
  hasStudio: true,
  recordTtlSeconds: RECORD_TTL_SECONDS,
  uploadTtlSeconds: SIGNED_URL_SECONDS,
};
const where = hasPython() ? it : it.skip;
const site = buildSite({ pages: join(__dirname, '../../docs'), samples: PUBLIC });
const documents = filledDocuments(site, options);
const at = (path: string): string => documents[path] ?? '';
const pages = site.pages.map(({ address }): [string, string] => [address, at(address)]);

describe('the documentation', () => {
  it.each(pages)('%s loads from this service alone and runs nothing inline', (_, page) => {
    expect(page).not.toMatch(/undefined|NaN/);
    expect(page).not.toMatch(/<(?:script|img|link)[^>]* (?:src|href)="(?:https?:)?\/\//);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/);
  });

  it.each(pages)(
    '%s has one heading, names itself in the navigation, and describes its pictures',
    (_, page) => {
      expect(page.match(/<h1>/g)).toHaveLength(1);
      expect(page.match(/aria-current="page"/g)).toHaveLength(1);
      for (const [image] of page.matchAll(/<img[^>]*>/g)) expect(image).toMatch(/ alt="[^"]+"/);
      for (const [drawing] of page.matchAll(/<svg class="timeline[^>]*>/g))
        expect(drawing).toMatch(/ aria-label="[^"]+"/);
    },
  );

  it('leads only to what there is, and to no anchor twice', () => {
    const files = readdirSync(join(PUBLIC, 'docs')).map((name) => `/docs/${name}`);
    const known = new Set([...Object.keys(documents), ...files, '/openapi.json', '/studio']);
    const idsOn = new Map(
      pages.map(([path, page]) => [path, [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)]),
    );
    for (const [path, ids] of idsOn)
      expect([path, ids.filter((id, i) => ids.indexOf(id) !== i)]).toEqual([path, []]);
    const dead = pages.flatMap(([from, page]) =>
      [...page.matchAll(/<a [^>]*href="([^"#]*)#?([^"]*)"/g)]
        .map(([, path = '', anchor = '']) => ({ from, path: path || from, anchor }))
        .filter(({ path }) => !/^https:|^\/downloads\//.test(path))
        .filter(({ path, anchor }) => !known.has(path) || (anchor && !idsOn.get(path)?.includes(anchor))),
    );
    expect(dead).toEqual([]);
  });

  it('is all in llms.txt, as text at addresses of its own, with the figures of this service', () => {
    const index = at('/llms.txt');
    expect(index).toMatch(/^# Lipsync\n\n> \S/);
    for (const { title, textAddress } of site.pages) {
      const text = at(textAddress);
      expect(index).toContain(`- [${title}](https://api.example.com${textAddress}): `);
      expect(text).toMatch(/^# .+\n\n> .+\n\n\S/);
      expect(at('/llms-full.txt')).toContain(text);
      expect(text).not.toMatch(/\{\{[#/]?\w+\}\}|^<<< /m);
      for (const [, link = ''] of text.matchAll(/\]\(https:\/\/api\.example\.com(\/docs[^#)]*\.md)/g))
        expect(Object.keys(documents)).toContain(link);
    }
    expect(at('/docs/limits.md')).toContain('256 MiB');
  });

  it('can be searched, every part under the address of its heading', () => {
    const entries = JSON.parse(at('/docs/search.json')) as { id: string; heading: string; text: string }[];
    for (const { id } of entries) {
      const [path = '', anchor] = id.split('#');
      expect(at(path)).toContain(anchor === undefined ? '<main' : ` id="${anchor}"`);
    }
    const code = entries.find(({ heading }) => heading === 'no_face_detected');
    expect(code).toMatchObject({ id: '/docs/errors#no_face_detected' });
    expect(code?.text).toBe(ERROR_CATALOGUE.no_face_detected.message);
    expect(entries.find(({ id }) => id === '/docs/limits#media')?.text).toContain('256 MiB');
  });

  it('mentions the studio only where there is one', () => {
    expect(at('/docs')).toContain('href="/studio"');
    const without = filledDocuments(site, { ...options, hasStudio: false });
    const mentions = Object.keys(without).filter((path) =>
      /href="\/studio|\/studio\)/.test(without[path] ?? ''),
    );
    expect(mentions).toEqual([]);
  });

  it('shows the samples that are tested, whole', () => {
    const used = [...at('/llms-full.txt').matchAll(/^```\w+ title="[^"]+"\n(.*?)\n```$/gms)].map(
      ([, code]) => code,
    );
    for (const name of ['render.ts', 'render.py', 'render.go', 'render.sh', 'verify-webhook.go'])
      expect(used).toContain(readFileSync(join(SAMPLES, name), 'utf8').trimEnd());
    expect(at('/docs/first-render')).toContain('LIPSYNC_BASE_URL=https://api.example.com');
  });

  it('lists every error of the catalogue with its status, its meaning and whether it is retryable', () => {
    const rows = [...at('/docs/errors').matchAll(/<tr>\s*<th scope="row"><span id=.*?<\/tr>/gs)].map(
      ([row]) => row.replaceAll(/\s*<[^>]+>\s*/g, '|'),
    );
    const errors = Object.entries(ERROR_CATALOGUE);
    expect(rows).toHaveLength(errors.length);
    for (const [i, [code, { httpStatus, retryable, message }]] of errors.entries()) {
      expect(rows[i]).toContain(`|${code}|`);
      expect(rows[i]).toContain(`|${httpStatus ?? ''}||${retryable ? 'yes' : 'no'}|`);
      expect(rows[i]).toContain(`|${message}|`);
    }
  });

  it('refers to every operation, by functions that the client has', () => {
    const text = at('/docs/reference.md');
    const client = new LipSync({ baseUrl: 'https://api.example.com', apiKey: `svc_${'0'.repeat(64)}` });
    for (const { method, path } of OPERATIONS)
      expect(text).toContain(`**${method.toUpperCase()}** \`${path}\``);
    const calls = [...text.matchAll(/^await client\.(\w+)\.(\w+)\(/gm)];
    expect(calls).toHaveLength(OPERATIONS.length);
    for (const [, group = '', name] of calls)
      expect(client[group as 'renders']).toHaveProperty([name ?? ''], expect.any(Function));
  });

  where('calls every operation in Python by what the client for Python takes', async () => {
    const calls = [...at('/docs/reference.md').matchAll(/```py title="Python"\n(.*?)\n```/gs)];
    expect(calls).toHaveLength(OPERATIONS.length);
    const code = calls.map(([, call]) => call).join('\n');
    const env = { ...process.env, PYTHONPATH: join(__dirname, '../../../../packages/client-python/src') };
    const { stdout } = await promisify(execFile)(
      'python3',
      ['-c', `${PYTHON_STAND_IN}\n${code}\nprint("done")`],
      { env },
    );
    expect(stdout).toBe('done\n');
  });

  it('compares every engine of the contract', () => {
    for (const engine of ENGINES)
      expect(at('/docs/engines')).toContain(`<th scope="row"><code>${engine}</code></th>`);
  });

  it('names the limits of media that the workers check', () => {
    const { minSide, maxSide, maxPictures } = MEDIA_LIMITS;
    expect(at('/docs/limits')).toContain(`each side ${minSide} to ${maxSide} pixels`);
    expect(at('/docs/limits')).toContain(`at most ${maxPictures} frames`);
  });

  it('says how long records and uploads live as this service is set', () => {
    const own = filledDocuments(site, { ...options, recordTtlSeconds: 36 * 3_600, uploadTtlSeconds: 60 });
    expect(own['/docs/limits']).toContain('36 hours; then 410 for 30 days');
    expect(own['/docs/uploads']).toContain('within 1 minute.');
    for (const { address } of site.pages) expect(own[address]).not.toMatch(/7 days/);
    expect(at('/docs/limits')).toContain('7 days; then 410 for 30 days');
  });

  it('names no value that there is not', () => {
    const wrong = { ...site, documents: { '/docs': '{{no_such_value}}' } };
    expect(() => filledDocuments(wrong, options)).toThrow('unknown value: no_such_value');
  });

  it('draws every sync mode, as long as the service makes it', () => {
    const page = at('/docs/sync-modes');
    const seconds = { cut_off: [4, 4], bounce: [10, 4], loop: [10, 4], remap: [10, 4], silence: [10, 10] };
    for (const mode of SYNC_MODES) {
      expect(page).toContain(`"${mode}: 4 s of video and 10 s of voice give ${seconds[mode][0]} s"`);
      expect(page).toContain(`"${mode}: 10 s of video and 4 s of voice give ${seconds[mode][1]} s"`);
    }
  });
});

const { EventRenderCompleted, EventPreparationFailed } = openapiDocument.components.examples;

/** A client with the functions of the real one, which refuse other arguments than those, and do nothing. */
const PYTHON_STAND_IN = `
from unittest.mock import create_autospec
from lipsync import LipSync
client = create_autospec(LipSync(api_key="svc_" + 64 * "0", base_url="https://api.example.com"))
`;

/** What the service sends to a receiver, now or some seconds ago. */
function delivery(signingSecret: string, event: object = EventRenderCompleted.value, secondsAgo = 0) {
  const body = JSON.stringify(event);
  const t = Math.floor(Date.now() / 1000) - secondsAgo;
  const signature = signatureHeader(signingSecret, t, 'dlv_1', Buffer.from(body));
  return { body, headers: { 'Svc-Signature': signature, 'Svc-Delivery-ID': 'dlv_1' } };
}

describe('the samples that receive webhooks', () => {
  const secret = 'ab'.repeat(32);
  const forged = 'cd'.repeat(32);

  it('in TypeScript take what the service signs, and read no more than an event has', async () => {
    process.env['LIPSYNC_WEBHOOK_SECRET'] = secret;
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
    expect(log).toHaveBeenCalledWith('render.completed', EventRenderCompleted.value.id);
  });

  where('in Python take what the service signs, and read of the rest as little as they can', async () => {
    const { body, headers } = delivery(secret);
    const deliveries = [
      { body, headers },
      delivery(secret, { ...EventPreparationFailed.value, id: 'evt_2' }),
      { body, headers: delivery(forged).headers },
      { body: '{"id":"evt_3"}', headers },
      { body, headers: delivery(secret, EventRenderCompleted.value, 400).headers },
      { body, headers: { 'Svc-Delivery-ID': 'dlv_1' } },
      { body, headers: { ...headers, 'Svc-Signature': `t=${'9'.repeat(400)},v1=${'0'.repeat(64)}` } },
      { bytes: 2 * MIB, headers },
    ];
    const { stdout } = await promisify(execFile)(
      'python3',
      ['-c', RECEIVE_EACH, JSON.stringify(deliveries)],
      {
        env: { ...process.env, PYTHONPATH: `${SAMPLES}:${PYTHON_CLIENT}`, LIPSYNC_WEBHOOK_SECRET: secret },
      },
    );
    const [told, outcomes] = stdout.trim().split('\n').slice(-2);
    expect(told).toBe('preparation.failed evt_2 failed');
    expect(JSON.parse(outcomes ?? '')).toEqual([
      [204, '', body.length],
      [204, '', deliveries[1]?.body?.length],
      [400, 'wrong_signature', body.length],
      [400, 'wrong_signature', '{"id":"evt_3"}'.length],
      [400, 'timestamp_out_of_tolerance', 0],
      [400, 'missing_header', 0],
      [400, 'malformed_signature', 0],
      [400, 'body_too_large', MIB + 64 * 1024],
    ]);
  });
});

const MIB = 1024 * 1024;
const PYTHON_CLIENT = join(__dirname, '../../../../packages/client-python/src');
/** Prints for each delivery what the sample answers, and how many bytes of the body it has read. */
const RECEIVE_EACH = `
import importlib, io, json, sys
sample = importlib.import_module("receive-webhook")
outcomes = []
for each in json.loads(sys.argv[1]):
    body = io.BytesIO(each["body"].encode() if "body" in each else bytes(each["bytes"]))
    outcomes.append([*sample.receive_webhook(body, each["headers"]), body.tell()])
print(json.dumps(outcomes))
`;
