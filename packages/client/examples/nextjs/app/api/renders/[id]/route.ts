import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { answer, lipsync, resultPath } from '../../../../lib/lipsync';

/** GET /api/renders/ID: the video once it is kept here, before that how far it is. */
export function GET(_request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(async () => {
    const { id } = await params;
    // It becomes part of a path.
    if (!/^ren_[0-9a-z]+$/.test(id))
      return Response.json({ error: 'No render has this id' }, { status: 404 });
    // First: the service forgets a render, and the file stays.
    const file = await stat(resultPath(id)).catch(() => null);
    if (file !== null)
      return new Response(Readable.toWeb(createReadStream(resultPath(id))) as ReadableStream, {
        headers: { 'content-type': 'video/mp4', 'content-length': String(file.size) },
      });
    const { status, progress_percent: percent, error } = await lipsync().renders.get(id);
    return Response.json({ status, percent, error: error?.message });
  });
}
