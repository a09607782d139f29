import { ServiceFailure } from './service-failure.ts';

const refusals = {
  'collector.invalid': 'the collector ID is missing or does not exist',
  'collector.type.invalid': 'the collector is hosted, not installed',
  'collector.not.alive': 'the collector is not running',
  'collector.in.upgrading': 'the collector is currently being upgraded',
  'collector.version.invalid': 'the version is missing or not valid',
} as const;

/** One of the five refusals of a create (collector-api.md §7.5). */
export function refused(code: keyof typeof refusals): ServiceFailure {
  return new ServiceFailure(400, code, refusals[code]);
}
