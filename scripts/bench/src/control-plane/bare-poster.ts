import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { signatureHeader } from '@lipsync/domain';
import { RECEIVER_HOSTS } from './receiver-hosts';

/** The request: post the body this many times, over this many connections to each host. */
export interface PostRequests {
  requests: number;
  connectionsPerHost: number;
  port: number;
  ca: string;
  secretHex: string;
  body: string;
}

/**
 * The baseline for deliveries, as a process of its own: the minimum that signs a body and posts it over kept-alive
 * connections. No database, no retries, no check of addresses, no log.
 */
async function postAll(question: PostRequests): Promise<void> {
  const { port, ca, connectionsPerHost, requests } = question;
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsPerHost, ca });
  let left = requests;
  const worker = async (host: string): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await post(host, port, agent, question);
    }
  };
  const workers = RECEIVER_HOSTS.flatMap((host) =>
    Array.from({ length: connectionsPerHost }, () => worker(host)),
  );
  await Promise.all(workers);
  agent.destroy();
}

function post(host: string, port: number, agent: Agent, { secretHex, body }: PostRequests): Promise<void> {
  const id = randomUUID();
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'svc-event-id': id,
    'svc-delivery-id': id,
    'svc-signature': signatureHeader(secretHex, Math.floor(Date.now() / 1000), id, body),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, servername: host, method: 'POST', path: '/hook', agent, headers },
      (response) => response.resume().once('end', resolve),
    );
    outgoing.once('error', reject).end(body);
  });
}

process.on('message', (question: PostRequests) => {
  void postAll(question).then(() => process.send?.({ done: true }));
});
