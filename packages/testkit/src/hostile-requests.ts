/** What is wrong with them, and bytes that are no HTTP request: the answer is 400, and the connection is closed. */
export const MALFORMED_REQUESTS: readonly (readonly [reason: string, bytes: string])[] = [
  ['bytes that are no HTTP', 'nonsense\r\n\r\n'],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['two different lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  [
    'a length and chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a header with a line break', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\nC d\r\n\r\n'],
  ['a request without a host', 'GET /v1/renders/x HTTP/1.1\r\n\r\n'],
  ['more than 16 KiB of headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`],
];
