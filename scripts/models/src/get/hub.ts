import { type PublishedFile } from './published';

/** Where published files are: a server with the layout of huggingface.co. */
export interface Hub {
  /** Its origin, without a slash at the end. */
  readonly address: string;
  /** Sent to the hub itself, and to nobody that it redirects to. */
  readonly token?: string | undefined;
}

/** What the hub says about a file before it is downloaded. */
export interface HubFile {
  readonly url: string;
  /** The commit of the revision: a branch is followed only here, so that a file comes from one commit. */
  readonly commit: string | null;
  readonly bytes: number | null;
  /** The hub states it for large files, which it stores by it. */
  readonly sha256: string | null;
}

/** The hub does not give a file. The message says why and what helps. */
export class HubRefusal extends Error {
  override readonly name = 'HubRefusal';

  constructor(
    message: string,
    /** Whether it may work in a moment. */
    readonly passing: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function addressOf(hub: Hub, { repo, path }: PublishedFile, revision: string): string {
  return `${hub.address}/${repo}/resolve/${revision}/${path}`;
}

const REDIRECTS_MAX = 5;

/**
 * Asks for the headers of a file. The hub answers for a large file with a redirect to its store, and states size and
 * digest beside it (X-Linked-Size, X-Linked-ETag); only redirects within the hub, as of renamed repositories, are
 * followed. Rejects with HubRefusal.
 */
export async function askHub(hub: Hub, file: PublishedFile): Promise<HubFile> {
  const origin = new URL(hub.address).origin;
  let url = addressOf(hub, file, file.revision);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await request(hub, file, url, { method: 'HEAD', redirect: 'manual' });
    const { headers, status } = response;
    const location = headers.get('location');
    const next = location === null ? null : new URL(location, url);
    if (status >= 300 && status < 400 && next?.origin === origin && !headers.has('x-linked-etag')) {
      url = next.href;
      continue;
    }
    if (status >= 400) throw refusal(hub, file, response);
    const commit = /^[0-9a-f]{40}$/.exec(headers.get('x-repo-commit') ?? '')?.[0] ?? null;
    return {
      url: addressOf(hub, file, commit ?? file.revision),
      commit,
      bytes: wholeNumber(
        headers.get('x-linked-size') ?? (status < 300 ? headers.get('content-length') : null),
      ),
      sha256: /^"?([0-9a-f]{64})"?$/.exec(headers.get('x-linked-etag') ?? '')?.[1] ?? null,
    };
  }
  throw new HubRefusal(`${url} redirects without end`, false);
}

/** Sends a request to the hub. Rejects with HubRefusal if nobody answers. */
export async function request(
  { token }: Hub,
  { repo, path }: PublishedFile,
  url: string,
  init: RequestInit & { headers?: Record<string, string> },
): Promise<Response> {
  const authorization = token ? { authorization: `Bearer ${token}` } : {};
  // Compressed, neither lengths nor ranges would be those of the file.
  const headers = { 'accept-encoding': 'identity', ...authorization, ...init.headers };
  try {
    return await fetch(url, { ...init, headers });
  } catch (cause) {
    const reason = innermost(cause);
    throw new HubRefusal(`${new URL(url).origin} cannot be reached for ${repo}/${path}: ${reason}`, true, {
      cause,
    });
  }
}

/** fetch itself only says that it failed. */
function innermost(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  if ('cause' in error && error.cause !== undefined) return innermost(error.cause);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'message' in error ? String(error.message) : 'unknown';
}

/** Why the hub answered with an error, in words that say what to do. */
export function refusal({ address, token }: Hub, file: PublishedFile, response: Response): HubRefusal {
  const { status, headers } = response;
  const [code, stated] = [headers.get('x-error-code'), headers.get('x-error-message')];
  const name = `${file.repo}/${file.path}`;
  const page = `${address}/${file.repo}`;
  const tokenAdvice = token ? 'The token in HF_TOKEN does not suffice' : 'Put a token into HF_TOKEN';
  if (code === 'GatedRepo' || (status === 403 && code === null))
    return new HubRefusal(
      `${name}: its terms must be accepted first, on ${page}. ${tokenAdvice} (${status})`,
      false,
    );
  if (status === 401 || status === 403)
    return new HubRefusal(
      `${name}: ${page} does not exist, or is private. ${tokenAdvice} if it is yours (${status})`,
      false,
    );
  if (status === 404 || status === 410)
    return new HubRefusal(
      `${name} is not on the hub at revision ${file.revision} (${status}${stated ? `: ${stated}` : ''})`,
      false,
    );
  return new HubRefusal(`${name}: ${address} answered ${status}`, status >= 500 || status === 429);
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
