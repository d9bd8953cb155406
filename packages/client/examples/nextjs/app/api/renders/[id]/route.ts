import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { answer, lipsync, resultPath } from '../../../../lib/lipsync';

/** GET /api/renders/ID: the video once it is kept here, before that how far it is. */
export function GET(_request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(async () => {
    // The service looks at the id first: no path can be in one.
    const render = await lipsync().renders.get((await params).id);
    const file = await stat(resultPath(render.id)).catch(() => null);
    if (file === null)
      return Response.json({
        status: render.status,
        percent: render.progress_percent,
        error: render.error?.message,
      });
    return new Response(Readable.toWeb(createReadStream(resultPath(render.id))) as ReadableStream, {
      headers: { 'content-type': 'video/mp4', 'content-length': String(file.size) },
    });
  });
}
