import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { stopRedis } from '@lipsync/testkit';
import { awaitRender, startSystem, type System } from './system';

jest.setTimeout(240_000);

describe('while Redis is away', () => {
  let system: System;

  beforeAll(async () => {
    system = await startSystem('redis');
  });
  afterAll(() => system.stop());

  it('renders are accepted, and run when it is back', async () => {
    const [video, audio] = await Promise.all([
      system.api.upload(SAMPLE_VIDEO, 'video', 'video/mp4'),
      system.api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav'),
    ]);
    await stopRedis(system.stack.layout.redisDir);

    const request = {
      video: { asset_id: video.id },
      audio: { asset_id: audio.id },
      engines: ['musetalk' as const],
      sync_mode: 'cut_off' as const,
    };
    const created = await Promise.all([system.api.createRender(request), system.api.createRender(request)]);
    expect(created.map(({ status }) => status)).toEqual(['accepted', 'accepted']);

    await system.up();
    for (const { id } of created)
      expect(await awaitRender(system.api, id)).toMatchObject({ status: 'completed' });
  });
});
