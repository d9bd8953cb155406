import path from 'node:path';
import { CONTENT_TYPE_BY_EXTENSION } from '@lipsync/client';
import { answer, lipsync } from '../../../lib/lipsync';

/** PUT /api/uploads?media=video&name=face.mp4 with a file as the body. Hosts that limit bodies need `uploads.begin` and a PUT to the store instead. */
export function PUT(request: Request): Promise<Response> {
  return answer(async () => {
    const { searchParams } = new URL(request.url);
    const [media, name] = [searchParams.get('media'), searchParams.get('name') ?? ''];
    const size = Number(request.headers.get('content-length'));
    if (request.body === null || !(size > 0) || (media !== 'video' && media !== 'audio'))
      return Response.json({ error: 'media is video or audio, and the body a file' }, { status: 400 });
    // By its name: browsers tell the type of fewer files than the service takes.
    const contentType = CONTENT_TYPE_BY_EXTENSION[media][path.extname(name).slice(1).toLowerCase()];
    if (contentType === undefined)
      return Response.json({ error: `${name} is not known as ${media}` }, { status: 400 });
    const file = { stream: request.body, size, contentType };
    const asset = await lipsync().uploads.create(file, { mediaType: media });
    return Response.json({ id: asset.id });
  });
}
