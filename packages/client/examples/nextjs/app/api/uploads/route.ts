import { answer, lipsync } from '../../../lib/lipsync';

/** PUT /api/uploads?media=video with a file as the body. Hosts that limit bodies need `uploads.begin` and a PUT to the store instead. */
export function PUT(request: Request): Promise<Response> {
  return answer(async () => {
    const media = new URL(request.url).searchParams.get('media');
    const size = Number(request.headers.get('content-length'));
    if (request.body === null || !(size > 0) || (media !== 'video' && media !== 'audio'))
      return Response.json({ error: 'media is video or audio, and the body a file' }, { status: 400 });
    const file = {
      stream: request.body,
      size,
      contentType: request.headers.get('content-type') ?? 'application/octet-stream',
    };
    const asset = await lipsync().uploads.create(file, { mediaType: media });
    return Response.json({ id: asset.id });
  });
}
