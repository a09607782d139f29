import { describe, expect, it } from 'vitest';
import { nightPolicy, scan, untilEnded } from '../../support/night/daemon-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { until } from '../../support/until.ts';

const { aNight } = useNights();

/** The values of the series with this name, by their labels as they are written. */
function series(exposition: string, name: string): Readonly<Record<string, number>> {
  const pattern = new RegExp(`^upwave_${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm');
  return Object.fromEntries(
    [...exposition.matchAll(pattern)].map(([, labels = '', value]) => [labels, Number(value)]),
  );
}

const sum = (numbers: readonly number[]) => numbers.reduce((before, each) => before + each, 0);

describe.concurrent('two daemons', () => {
  it('show a rollout in /metrics with right values, the shared state by the leader alone', async (test) => {
    const night = await aNight(test, {
      scenario: {
        fleet: { size: 20 },
        failures: [{ match: { count: 1 }, outcome: 'failed', message: 'permission denied' }],
      },
      rollout: { select: { exclude: [] } },
    });
    const daemons = [await night.startDaemon(), await night.startDaemon()] as const;
    const scrape = () => Promise.all(daemons.map(async (daemon) => (await daemon.get('/metrics')).text));
    const rolloutId = await scan(daemons[0]);
    const policy = `policy="${nightPolicy}"`;
    const during = await until('a task to be shown', async () => {
      const texts = await scrape();
      return texts.some((text) => (series(text, 'in_flight')[policy] ?? 0) > 0) && texts;
    });
    const active = during.find((text) => policy in series(text, 'in_flight')) ?? '';
    expect(series(active, 'concurrency_limit')).toEqual({ [policy]: 8 });
    expect(Object.keys(series(active, 'gate_failures_allowed'))).toHaveLength(3);
    const { planned } = await untilEnded(daemons[0], rolloutId);
    expect(sum(Object.values(series(active, 'upgrades')))).toBe(planned);

    const ended = `${policy},state="finishedWithFailures"`;
    const isLeading = (text: string) => series(text, 'leader')[''] === 1;
    const after = await until('the one that leads to show the end', async () => {
      const texts = await scrape();
      return texts.some((text) => isLeading(text) && series(text, 'rollout_state')[ended] === 1) && texts;
    });
    const leader = after.find(isLeading) ?? '';
    const follower = after.find((text) => !isLeading(text)) ?? 'none';
    for (const name of ['upgrades', 'in_flight', 'rollout_state', 'gate_failures', 'queue_jobs'])
      expect(series(follower, name)).toEqual({});
    // An ended rollout shows its end alone.
    for (const name of ['upgrades', 'in_flight', 'gate_failures', 'window_open'])
      expect(series(leader, name)).toEqual({});
    // What each daemon counts for itself adds up over both.
    const both = (name: string, labels: string) => sum(after.map((text) => series(text, name)[labels] ?? 0));
    expect(both('upgrade_outcomes_total', `${policy},outcome="succeeded"`)).toBe(planned - 1);
    expect(both('upgrade_outcomes_total', `${policy},outcome="failed"`)).toBe(1);
    expect(both('upgrade_attempts_total', `${policy},class="permanent"`)).toBe(1);
    expect(both('upgrade_duration_seconds_count', policy)).toBe(planned);
    expect(both('outcome_seen_delay_seconds_count', '')).toBe(planned);
    const { requests, creates } = night.record();
    const created = 'operation="createUpgradeTask",status="202"';
    expect(both('api_requests_total', created)).toBe(creates.length);
    const counted = after.flatMap((text) => Object.values(series(text, 'api_requests_total')));
    expect(sum(counted)).toBe(sum(Object.values(requests)));
    expect(both('api_throttled_total', 'reason="429"')).toBe(0);
    // No label bears a collector's or a rollout's id.
    for (const text of after) {
      expect(text).not.toContain(rolloutId);
      expect(text).not.toMatch(/\b1000000\d\d\b/);
    }
    // Whoever leads next records what the build did, at once.
    for (const daemon of daemons) await daemon.close();
    const next = await night.startDaemon();
    const recorded = await until('the record of the build', async () => {
      const { text } = await next.get('/metrics');
      return Object.keys(series(text, 'build_tried')).length > 0 && text;
    });
    expect(Object.values(series(recorded, 'build_tried'))).toEqual([planned]);
    expect(Object.values(series(recorded, 'build_failed'))).toEqual([1]);
  });
});
