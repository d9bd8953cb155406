import { LipSync } from '@lipsync/client'; // installed as /docs/typescript says

/** Renders a video with a voice. The client reads LIPSYNC_BASE_URL and LIPSYNC_API_KEY. */
export async function renderFiles(video: string, voice: string, result: string): Promise<void> {
  const client = new LipSync();
  const { id } = await client.renders.create({
    video, // a path, File, Blob, stream, https address or asset
    audio: voice,
    engines: ['musetalk'],
    sync_mode: 'cut_off',
  });
  const render = await client.renders.wait(id, {
    onChange: ({ stage, progress_percent }) => console.log(stage, progress_percent, '%'),
  });
  await client.outputs.download(render, 'musetalk', result);
}
