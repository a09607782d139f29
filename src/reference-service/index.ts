// What a test in TypeScript imports: `import { startReferenceService } from 'upwave/reference-service'`.
export { mainAccountName } from './scenario/account-scenario.ts';
export { parseScenario, type Scenario, ScenarioError, type ScenarioInput } from './scenario/scenario.ts';
export {
  type ReferenceService,
  type ReferenceServiceParts,
  startReferenceService,
} from './server/start-reference-service.ts';
