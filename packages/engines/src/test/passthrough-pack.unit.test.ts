/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelPath } from '@lipsync/model-pack';
import { type MusetalkManifest } from '../musetalk/manifest';
import { openPackFor, type Pack } from '../packs';
import { buildBuiltinPacks } from '../registry';
import { floats, loadTestGraph, time } from './graphs';
import { writePassthroughPack } from './passthrough-pack';

let folder: string;
let pack: Pack<MusetalkManifest>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-'));
  await writePassthroughPack(join(folder, 'pack'));
  pack = await openPackFor('musetalk', join(folder, 'pack'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(
  role: keyof MusetalkManifest['roles'],
  feeds: Parameters<Awaited<ReturnType<typeof loadTestGraph>>['run']>[0],
): Promise<Float32Array> {
  const file = pack.manifest.roles[role];
  if (!file) throw new Error(`the pack has no ${role}`);
  const graph = await loadTestGraph(await readFile(modelPath(pack, file)));
  try {
    return await graph.run(feeds);
  } finally {
    await graph.release();
  }
}

test('passes a face through unchanged but for the blocks, each frame of the batch separately', async () => {
  const image = Float32Array.from({ length: 2 * 3 * 256 * 256 }, (_, i) => (i % 1999) / 1000 - 1);
  const latent = await run('vae_encoder', { image: floats(image, [2, 3, 256, 256]) });
  expect(latent).toHaveLength(2 * 4 * 1024);
  const both = new Float32Array(2 * latent.length);
  for (let frame = 0; frame < 2; frame++)
    both.set(latent.subarray(frame * 4096, (frame + 1) * 4096), (2 * frame + 1) * 4096);
  const clean = await run('unet', {
    latent: floats(both, [2, 8, 32, 32]),
    timestep: time(0),
    audio: floats(new Float32Array(2 * 50 * 384), [2, 50, 384]),
  });
  const back = await run('vae_decoder', { latent: floats(clean, [2, 4, 32, 32]) });
  const at = (picture: Float32Array, frame: number, channel: number, y: number, x: number) =>
    picture[((frame * 3 + channel) * 256 + y) * 256 + x];
  for (const [frame, channel, row, column] of [
    [0, 0, 0, 0],
    [0, 2, 17, 30],
    [1, 1, 31, 5],
  ] as const) {
    const kept = at(image, frame, channel, row * 8 + 4, column * 8 + 4);
    for (const [dy, dx] of [
      [0, 0],
      [7, 0],
      [3, 7],
    ] as const)
      expect(at(back, frame, channel, row * 8 + dy, column * 8 + dx)).toBe(kept);
  }
});

test('is not among the packs that are served', async () => {
  const served = await buildBuiltinPacks(join(folder, 'served'));
  expect(served.map(({ manifest }) => manifest.name)).not.toContain('bench-passthrough');
});
