import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigningCertificate } from '@lipsync/testkit';
import { deceptions } from './test/changed-bytes';
import { HEAD_BYTES, renderVideo, signVideo } from './test/signed-video';

test('of 1,000 changed bytes none passes that changes anything but the labels of boxes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'changed-bytes-'));
  try {
    const file = await renderVideo(folder);
    const certificate = await createSigningCertificate();
    await signVideo(file, certificate, file);
    const changes = { count: 1_000, seed: 2, head: HEAD_BYTES };
    expect(await deceptions(await readFile(file), certificate.authority, changes)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
