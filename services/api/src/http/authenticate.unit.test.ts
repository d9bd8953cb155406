import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { createLogger } from '@lipsync/runtime';
import { clientAddress, createKeyUse } from './authenticate';

const PEER = '192.0.2.1';

function request(forwardedFor?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: PEER });
  const message = new IncomingMessage(socket);
  if (forwardedFor !== undefined) message.headers['x-forwarded-for'] = forwardedFor;
  return message;
}

describe('clientAddress', () => {
  it('trusts only the connection when there is no proxy', () => {
    expect(clientAddress(request('198.51.100.7'), 0)).toBe(PEER);
  });

  it.each([
    [1, '198.51.100.7', '198.51.100.7'],
    [1, 'made-up, 198.51.100.7', '198.51.100.7'],
    [2, 'made-up, 198.51.100.7 ,203.0.113.9', '198.51.100.7'],
  ])('counts %d proxies from the end of %s', (hops, header, address) => {
    expect(clientAddress(request(header), hops)).toBe(address);
  });

  it('takes the furthest reported address when there are fewer entries than trusted proxies', () => {
    expect(clientAddress(request('198.51.100.7'), 3)).toBe('198.51.100.7');
    expect(clientAddress(request(), 2)).toBe(PEER);
  });
});

const logger = createLogger({ service: 'test', level: 'silent' });

describe('createKeyUse', () => {
  it("records a key's use once, however many requests come meanwhile, and another key's beside it", async () => {
    const touched: string[] = [];
    const settled: (() => void)[] = [];
    const noteUse = createKeyUse({
      logger,
      touch: (keyId) => {
        touched.push(keyId);
        return new Promise((resolve) => settled.push(resolve));
      },
    });
    noteUse('key_1');
    noteUse('key_1');
    noteUse('key_2');
    expect(touched).toEqual(['key_1', 'key_2']);
    for (const settle of settled) settle();
    await new Promise(setImmediate);
    noteUse('key_1');
    expect(touched).toEqual(['key_1', 'key_2', 'key_1']);
  });

  it('tries again after a failed write, without affecting the caller', async () => {
    let attempts = 0;
    const noteUse = createKeyUse({
      logger,
      touch: async () => {
        attempts += 1;
        throw new Error('no database');
      },
    });
    noteUse('key_1');
    await new Promise(setImmediate);
    noteUse('key_1');
    expect(attempts).toBe(2);
  });
});
