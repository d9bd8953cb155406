import path from 'node:path';
import { ApiError, LipSync } from '@lipsync/client';

export const ENGINE = 'musetalk';

/** Made at the first request: a build has no key. */
let client: LipSync | undefined;
export const lipsync = (): LipSync => (client ??= new LipSync());

export const resultPath = (id: string): string => path.join(process.cwd(), 'results', `${id}.mp4`);

/** What the service refuses, the page may read: none of its messages holds a secret. */
export async function answer(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return Response.json({ error: error.message }, { status: error.status });
  }
}
