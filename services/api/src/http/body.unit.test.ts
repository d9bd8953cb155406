import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { listenOnLoopback } from '@lipsync/testkit';
import { errorThrownBy } from '../../test/error-thrown-by';
import { ClientGone, parseJsonObject, readBody, requireBody, requireJsonContentType } from './body';

describe('readBody', () => {
  let server: Server;
  let port: number;
  let received: Promise<[IncomingMessage, ServerResponse]>;
  beforeEach(async () => {
    server = createServer();
    received = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    port = await listenOnLoopback(server);
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it('rejects for a caller that hung up while the request was still being authenticated', async () => {
    const client = connect(port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"part":');
    const [req, res] = await received;
    client.destroy();
    // Not `once` of node:events: it also listens for errors, which would change what is tested.
    await new Promise((resolve) => req.once('close', resolve));
    await expect(readBody(req, res, 1000)).rejects.toThrow(ClientGone);
  });

  it('rejects for a caller that hangs up in the middle of its body', async () => {
    const client = connect(port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"part":');
    const reading = readBody(...(await received), 1000);
    client.destroy();
    await expect(reading).rejects.toThrow(ClientGone);
  });

  it('disconnects a caller that goes on sending a body that was refused', async () => {
    const client = connect(port, '127.0.0.1');
    const closed = new Promise((resolve) => client.once('close', resolve));
    const send = (): void => {
      while (client.writable && client.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`));
    };
    client.on('error', () => undefined).on('drain', send);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    send();
    await expect(readBody(...(await received), 1000)).rejects.toMatchObject({ code: 'body_too_large' });
    await closed;
  });
});

describe('requireJsonContentType', () => {
  it.each([
    ['application/json', undefined],
    ['application/json; charset=utf-8', undefined],
    ['Application/JSON;charset="UTF-8"', undefined],
    ['application/json; version=1', undefined],
    ['application/json', 'Identity'],
  ])('accepts %s with encoding %s', (contentType, encoding) => {
    expect(() => requireJsonContentType(contentType, encoding)).not.toThrow();
  });

  it.each([
    [undefined, undefined, 'application/json'],
    ['text/plain', undefined, 'application/json'],
    ['application/jsonp', undefined, 'application/json'],
    ['application/json; charset=latin1', undefined, 'UTF-8'],
    ['application/x-www-form-urlencoded', undefined, 'application/json'],
    ['application/json', 'gzip', 'uncompressed'],
  ])('refuses %s with encoding %s, and says what would be accepted: %s', (contentType, encoding, advice) => {
    const error = errorThrownBy(() => requireJsonContentType(contentType, encoding));
    expect(error.code).toBe('invalid_content_type');
    expect(error.message).toContain(advice);
  });
});

describe('parseJsonObject', () => {
  it('returns the object, with a property named __proto__ as plain data', () => {
    expect(parseJsonObject(Buffer.from('{"a": [1]}'))).toEqual({ a: [1] });
    expect(Object.keys(parseJsonObject(Buffer.from('{"__proto__": {"x": 1}}')))).toEqual(['__proto__']);
  });

  it.each([
    ['nothing', ''],
    ['half an object', '{"a":'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"{}"'],
    ['two values', '{} {}'],
    ['a comment', '{} // x'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('refuses %s', (_, body) => {
    expect(errorThrownBy(() => parseJsonObject(Buffer.from(body))).code).toBe('invalid_json');
  });
});

const good = {
  video: { url: 'https://media.example.com/a.mp4' },
  audio: { url: 'https://media.example.com/a.wav' },
  engines: ['musetalk'],
  sync_mode: 'loop',
};

describe('requireBody', () => {
  it('accepts a body that follows the contract', () => {
    expect(requireBody('RenderRequest', good)).toBe(good);
  });

  it.each([
    [{ ...good, sync_mode: undefined }, 'invalid_request', /^\/sync_mode is required\.$/],
    [
      { ...good, webhook_url: 'http://localhost:3000/hook' },
      'invalid_webhook_url',
      /^\/webhook_url must begin with https:\/\/\. Use a public https .* run lipsync webhook listen\.$/,
    ],
    [{ ...good, audio: { url: 'talk.wav' } }, 'invalid_media_url', /^\/audio\/url .+\. Use a public https/],
    [
      { ...good, video: { url: 'https://a.example.com/my talk.mp4' } },
      'invalid_media_url',
      /^\/video\/url .+\. Use/,
    ],
  ])('says which part of a body is wrong, and what would be accepted: %j', (body, code, message) => {
    const refused = async () => requireBody('RenderRequest', JSON.parse(JSON.stringify(body)));
    return expect(refused()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
  });
});
