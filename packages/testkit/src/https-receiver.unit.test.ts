import { request } from 'node:https';
import { createCertificateAuthority, startHttpsReceiver } from './https-receiver';

const HOST = 'media.example.test';

/** The response status for a client that trusts these authorities. */
function ask(port: number, ca: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, servername: HOST, ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

it('creates authorities that can be trusted together, each for the servers that it signed', async () => {
  const [one, other] = await Promise.all([
    startHttpsReceiver({ hostnames: [HOST] }),
    startHttpsReceiver({ hostnames: [HOST] }),
  ]);
  for (const { port } of [one, other]) {
    expect(await ask(port, [one.ca, other.ca])).toBe(200);
    expect(await ask(port, [other.ca, one.ca])).toBe(200);
  }
  await expect(ask(one.port, [other.ca])).rejects.toThrow();
  await Promise.all([one.close(), other.close()]);
});

it('continues as the same authority when given its certificate and key', async () => {
  const first = await createCertificateAuthority();
  const receiver = await startHttpsReceiver({
    hostnames: [HOST],
    authority: await createCertificateAuthority({ cert: first.cert, key: first.key }),
  });
  expect(await ask(receiver.port, [first.cert])).toBe(200);
  await receiver.close();
});
