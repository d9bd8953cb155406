import { appendFile, copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import {
  createSigningCertificate,
  ffmpeg,
  mediaTiming,
  type SigningCertificate,
  testFolder,
} from '@lipsync/testkit';
import { deceptions } from './test/changed-bytes';
import { activeManifest, readCredentials } from './test/read-credentials';
import { FACTS, HEAD_BYTES, renderVideo, signVideo } from './test/signed-video';

const at = testFolder();
let rendered: string;
let certificate: SigningCertificate;
beforeAll(async () => {
  rendered = await renderVideo(at());
  certificate = await createSigningCertificate();
});

/** Signs a copy of the rendered file; `source` is what it is said to be made of. */
const marked = async (name: string, { source = rendered, using = certificate } = {}): Promise<string> => {
  const file = at(name);
  await copyFile(rendered, file);
  await signVideo(file, using, source);
  return file;
};

test('an output says who made what of which files when, and another implementation of C2PA confirms it', async () => {
  const file = await marked('said.mp4');
  const report = await readCredentials(await readFile(file), certificate.authority);

  expect(report).toMatchObject({ validation_state: 'Trusted' });
  expect(report.validation_status).toBeUndefined();
  const { claim_generator_info, ingredients, assertions, signature_info } = activeManifest(report);
  expect(claim_generator_info).toMatchObject([FACTS.generator]);
  expect(signature_info).toMatchObject({ alg: 'Es256', common_name: 'Self-made (not trusted)' });
  expect(ingredients).toMatchObject([
    { title: 'video', relationship: 'parentOf', instance_id: `nih:sha-256;${FACTS.videoSha256}` },
    { title: 'voice', relationship: 'componentOf', instance_id: `nih:sha-256;${FACTS.voiceSha256}` },
  ]);
  const when = FACTS.when.toISOString();
  expect(assertions.find(({ label }) => label === 'c2pa.actions.v2')?.data).toMatchObject({
    actions: [
      { action: 'c2pa.opened', when },
      { action: 'c2pa.placed', when },
      {
        action: 'c2pa.edited',
        when,
        softwareAgent: FACTS.agent,
        digitalSourceType:
          'http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia',
      },
    ],
  });
});

test('signing changes no picture and no sound, and leaves no other file behind', async () => {
  const file = await marked('same.mp4');
  const stream = async (path: string, kind: string): Promise<Buffer> => {
    const raw = at('stream.raw');
    await ffmpeg(['-y', '-i', path, '-map', `0:${kind}`, '-c', 'copy', '-f', 'data', raw]);
    return readFile(raw);
  };
  for (const kind of ['v', 'a']) expect(await stream(file, kind)).toEqual(await stream(rendered, kind));
  expect(await mediaTiming(file)).toEqual(await mediaTiming(rendered));
  expect((await readdir(at())).filter((name) => name.includes('.marked'))).toEqual([]);
});

test.each(['ES384', 'ES512', 'PS256', 'Ed25519'] as const)('signs by %s', async (key) => {
  const using = await createSigningCertificate({ key });
  const file = await marked(`${key}.mp4`, { using });
  const report = await readCredentials(await readFile(file), using.authority);
  expect(report.validation_state).toBe('Trusted');
  expect(activeManifest(report).signature_info.alg.toUpperCase()).toBe(key.toUpperCase());
});

test('a manifest that the source had is kept as that of the ingredient', async () => {
  const first = await marked('first.mp4');
  const second = await marked('second.mp4', { source: first });
  const third = await marked('third.mp4', { source: second });
  const labels = await Promise.all(
    [first, second, third].map(async (file) => {
      const report = await readCredentials(await readFile(file), certificate.authority);
      expect(report.validation_state).toBe('Trusted');
      return {
        own: report.active_manifest,
        parent: activeManifest(report).ingredients[0]?.active_manifest,
        report,
      };
    }),
  );
  expect(labels.map(({ parent }) => parent)).toEqual([undefined, labels[0]?.own, labels[1]?.own]);
  expect(Object.keys(labels[2]?.report.manifests ?? {})).toHaveLength(3);
});

test('a source whose manifest is malformed is an ingredient without one', async () => {
  const first = await marked('whole.mp4');
  const bytes = await readFile(first);
  const broken = at('broken.mp4');
  bytes.fill(0xff, bytes.indexOf('jumd') - 4, bytes.indexOf('jumd'));
  await writeFile(broken, bytes);
  const file = await marked('of-broken.mp4', { source: broken });
  const report = await readCredentials(await readFile(file), certificate.authority);
  expect(report.validation_state).toBe('Trusted');
  expect(activeManifest(report).ingredients[0]?.active_manifest).toBeUndefined();
});

test('a source of more boxes than a video has is not read to its end, and is an ingredient without a manifest', async () => {
  const crowded = await marked('crowded.mp4');
  const empty = Buffer.from('\0\0\0\x08free', 'latin1');
  await appendFile(crowded, Buffer.alloc(20_000 * empty.length, empty));
  const file = await marked('of-crowded.mp4', { source: crowded });
  const report = await readCredentials(await readFile(file), certificate.authority);
  expect(report.validation_state).toBe('Trusted');
  expect(activeManifest(report).ingredients[0]?.active_manifest).toBeUndefined();
});

test('a file that is no MP4 stays as it was', async () => {
  const file = at('note.txt');
  await writeFile(file, 'no video at all, but long enough to be looked at');
  await expect(signVideo(file, certificate, rendered)).rejects.toThrow('does not begin as an MP4');
  expect(await readFile(file, 'utf8')).toContain('no video');
});

test('no changed byte passes that changes anything but the labels of boxes', async () => {
  const file = await readFile(await marked('changed.mp4'));
  const changes = { count: 50, seed: 1, head: HEAD_BYTES };
  expect(await deceptions(file, certificate.authority, changes)).toEqual([]);
});
