import { it } from 'vitest';
import { externalService } from './external-service.ts';

/**
 * Needs power over the service: its clock, its fleet, its limits; or would disturb the fleet of others. Shown as skipped
 * when the service is not ours.
 */
export const itInProcess = it.skipIf(externalService !== undefined);

/** Creates upgrade tasks. */
export const itUpgrading = it.skipIf(externalService !== undefined && !externalService.allowsUpgrades);
