import { request as httpRequest } from 'node:http';

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly localAddress?: string;
}

/** Asks with raw HTTP: `fetch` would not let a test state Host, Origin, and what a browser adds. */
export function askRaw(url: string, { method = 'GET', headers = {}, body, localAddress }: Asked = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string; json: () => unknown }>(
    (resolve, reject) => {
      const request = httpRequest(
        url,
        { method, headers, agent: false, ...(localAddress !== undefined && { localAddress }) },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: () => JSON.parse(text),
            }),
          );
          response.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end(body);
    },
  );
}
