import fc from 'fast-check';

const host = 'Host: 127.0.0.1\r\n';
const post = `POST /v1/collectors HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;

/** What no HTTP client would send: it ends a connection, and must end nothing else. */
const nonsense: readonly string[] = [
  'GET\r\n\r\n',
  'GET /v1/collectors\r\n\r\n',
  'GET /v1/collectors HTTP/9.9\r\n\r\n',
  'GET /v1/collectors HTTP/1.1\r\n\r\n',
  `GET /v1/collectors HTTP/1.0\r\n\r\n`,
  `get /v1/collectors HTTP/1.1\r\n${host}\r\n`,
  `GETGET /v1/collectors HTTP/1.1\r\n${host}\r\n`,
  `CONNECT 127.0.0.1:80 HTTP/1.1\r\n${host}\r\n`,
  `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
  `GET /v1/a b HTTP/1.1\r\n${host}\r\n`,
  `GET /v1/\u00e9\u0000 HTTP/1.1\r\n${host}\r\n`,
  `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`,
  `GET /v1/collectors HTTP/1.1\n${host.trim()}\n\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}No colon here\r\n\r\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}Spaced : out\r\n\r\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}Nul: \u0000\r\n\r\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}Folded: a\r\n b\r\n\r\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}${host}\r\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}Large: ${'x'.repeat(20_000)}\r\n\r\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}${'A: b\r\n'.repeat(3_000)}\r\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
  `GET /v1/collectors HTTP/1.1\r\n${host}Expect: something\r\n\r\n`,
  `${post}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
  `${post}Content-Length: -1\r\n\r\n{}`,
  `${post}Content-Length: 2x\r\n\r\n{}`,
  `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `${post}Transfer-Encoding: gzip\r\n\r\n{}`,
  `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
  `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}`,
  `${post}Transfer-Encoding: chunked\r\n\r\n5\r\n{}`,
  `${post}Content-Length: 400\r\n\r\n{"collector":`,
  `${post}Content-Length: 99999999999\r\n\r\n{`,
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\u0016\u0003\u0001\u0002\u0000\u0001',
  '\r\n\r\n\r\n',
  '{"collector":{}}',
];

/** Bytes that break off or break the rules of HTTP. */
export const someNonsense: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...nonsense).map((text) => Buffer.from(text, 'latin1')) },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...nonsense), fc.nat(200))
      .map(([text, at]) => Buffer.from(text.slice(0, at), 'latin1')),
  },
);
