import { parseScenario } from '../../src/reference-service/scenario/scenario.ts';
import {
  type ReferenceServiceParts,
  startReferenceService,
} from '../../src/reference-service/server/start-reference-service.ts';

export type TestServiceParts = Partial<ReferenceServiceParts> & Pick<ReferenceServiceParts, 'credentials'>;

/** A reference service on a free port: a plain fleet in real time, whose state is not stored. */
export function startTestService(parts: TestServiceParts) {
  return startReferenceService({
    host: '127.0.0.1',
    port: 0,
    scenario: parseScenario({}),
    speed: 1,
    state: null,
    onStateFailure: () => undefined,
    ...parts,
  });
}
