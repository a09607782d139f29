import { makeRandom, type Random } from '../scenario/random.ts';
import type { CollectorFacts, CollectorSource } from './simulated-collector.ts';

/** A drawn source's id is derived from its collector's, so that sources are drawn independently. */
const idsPerCollector = 20;

/** Draws the sources of a collector: a few plausible ones, always the same (collector-api.md §2.2). */
export function drawSources(seed: string, facts: CollectorFacts): readonly CollectorSource[] {
  const random = makeRandom(`sources:${seed}:${facts.id}`);
  const drawn = facts.collectorType === 'Hosted' ? hostedSources(random) : installedSources(random, facts);
  return drawn.map((stated, index) => ({ id: facts.id * idsPerCollector + index, stated }));
}

type Stated = CollectorSource['stated'];

function installedSources(random: Random, facts: CollectorFacts): Stated[] {
  const isWindows = facts.osName?.startsWith('Windows') === true;
  const logs = localFile('system-logs', isWindows ? 'C:\\ProgramData\\logs\\*.log' : '/var/log/**/*.log');
  const nginx = localFile('nginx-access', '/var/log/nginx/access.log');
  return [
    logs,
    ...(!isWindows && random.chance(0.3) ? [nginx] : []),
    ...(random.chance(0.5) ? [systemStats()] : []),
  ];
}

function hostedSources(random: Random): Stated[] {
  return [
    { ...common('http-intake', 'HTTP'), messagePerRequest: false },
    ...(random.chance(0.3) ? [cloudToCloud('vendor-events', 'Vendor Events')] : []),
  ];
}

function cloudToCloud(name: string, type: string): Stated {
  return { sourceType: 'Universal', schemaRef: { type }, config: { name, pollingInterval: 300, fields: {} } };
}

function common(name: string, sourceType: string): Stated {
  return {
    name,
    sourceType,
    category: null,
    automaticDateParsing: true,
    multilineProcessingEnabled: true,
    useAutolineMatching: true,
    forceTimeZone: false,
    filters: [],
    cutoffTimestamp: 0,
    encoding: 'UTF-8',
  };
}

function localFile(name: string, pathExpression: string): Stated {
  return {
    ...common(name, 'LocalFile'),
    filters: [{ filterType: 'Exclude', name: 'no debug lines', regexp: '.*DEBUG.*' }],
    pathExpression,
    denylist: [],
  };
}

function systemStats(): Stated {
  return {
    ...common('host-metrics', 'SystemStats'),
    contentType: 'HostMetrics',
    interval: 60_000,
    metrics: ['CPU_User', 'CPU_Sys', 'Mem_Used', 'Disk_Used'],
  };
}
