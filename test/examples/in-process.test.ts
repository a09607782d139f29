import { type ReferenceService, startReferenceService } from 'upwave/reference-service';
import { afterAll, beforeAll, expect, it } from 'vitest';

let service: ReferenceService;
beforeAll(async () => {
  service = await startReferenceService({ credentials: [{ accessId: 'demo', accessKey: 'demo-key' }] });
});
afterAll(() => service.close());

it('sees that a collector went down', async () => {
  const [collector] = service.world.collectors();
  const id = collector?.facts.id ?? 0;
  service.world.kill(id);
  const headers = { authorization: `Basic ${btoa('demo:demo-key')}` };
  const response = await fetch(`${service.baseUrl}/v1/collectors/${id}`, { headers });
  expect(await response.json()).toMatchObject({ collector: { id, collectorType: 'Installable' } });
});
