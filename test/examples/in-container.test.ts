import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { afterAll, beforeAll, expect, it } from 'vitest';

let service: StartedTestContainer;
beforeAll(async () => {
  service = await new GenericContainer('upwave-service')
    .withCommand(['--access-id', 'demo', '--access-key', 'demo-key', '--fleet', '30', '--speed', '100'])
    .withExposedPorts(8080)
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
});
afterAll(() => service.stop());

it('lists the collectors', async () => {
  const baseUrl = `http://${service.getHost()}:${service.getMappedPort(8080)}/api`;
  const headers = { authorization: `Basic ${btoa('demo:demo-key')}` };
  const response = await fetch(`${baseUrl}/v1/collectors?limit=5`, { headers });
  const { collectors } = (await response.json()) as { collectors: unknown[] };
  expect(collectors).toHaveLength(5);
});
