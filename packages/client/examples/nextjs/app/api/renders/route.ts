import { answer, ENGINE, lipsync } from '../../../lib/lipsync';

/** POST /api/renders with the ids of two assets. */
export function POST(request: Request): Promise<Response> {
  return answer(async () => {
    const { video, audio } = (await request.json()) as { video: string; audio: string };
    const webhook = process.env.LIPSYNC_WEBHOOK_URL;
    const render = await lipsync().renders.create({
      video: { asset_id: video },
      audio: { asset_id: audio },
      engines: [ENGINE],
      sync_mode: 'cut_off',
      ...(webhook !== undefined && { webhook_url: webhook }),
    });
    return Response.json({ id: render.id });
  });
}
