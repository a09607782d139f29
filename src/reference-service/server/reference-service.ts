// What a test of another program imports from the package, as README.md shows.
export { mainAccountName } from '../scenario/account-scenario.ts';
export { parseScenario, type Scenario, ScenarioError, type ScenarioInput } from '../scenario/scenario.ts';
export {
  type ReferenceService,
  type ReferenceServiceParts,
  startReferenceService,
} from './start-reference-service.ts';
