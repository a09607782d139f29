import { type Chances, makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import type { DaemonModel } from './daemon-model.ts';
import { expectFaults } from './people.ts';

const minuteMs = 60_000;

/** People who start a policy again whose status says that it waits for that, and any policy where a night wants it. */
export function startPolicies(night: Night, daemons: () => readonly DaemonModel[]): void {
  const { setup, scheduler, steering } = night;
  if (!setup.features.starts) return;
  const chances = makeChances(setup.seed, 'starters');
  steering.able('start', () => {
    const daemon = chances.some(daemons());
    const policy = chances.some(daemon?.policies() ?? []);
    if (daemon !== undefined && policy !== undefined) void startPolicy(night, daemon, policy);
  });
  if (setup.words === 0 || setup.faults.storeEmptied === 0) return;
  const look = (): void => {
    if (!night.isTroubled()) return;
    const daemon = chances.some(daemons());
    if (daemon !== undefined) void startNeeded(night, daemon);
    soon(chances);
  };
  const soon = (by: Chances) => scheduler.at(scheduler.now() + by.int(20, 240) * minuteMs, look);
  soon(chances);
}

/** Starts each policy that needs it. @returns whether any did */
export async function startNeeded(night: Night, daemon: DaemonModel): Promise<boolean> {
  const statuses = await expectFaults(night, 'policies', () => daemon.operations.listPolicies());
  const needing = (statuses?.policies ?? []).filter(({ needs }) => needs?.kind === 'start');
  for (const { policy } of needing) {
    night.verdicts.check('P16', night.starts.isWaiting(policy), `${policy} shows a need that is over`);
    await startPolicy(night, daemon, policy);
  }
  return needing.length > 0;
}

async function startPolicy(night: Night, { starting }: DaemonModel, policy: string): Promise<void> {
  night.spoken('start');
  // Where the store goes back, a start that was answered would be undone.
  const spoken = night.orders.asks([]);
  night.trace('person', () => `start ${policy}`);
  const result = await expectFaults(night, 'start', async () => {
    const shown = await starting.previewStart(policy);
    if (shown.kind !== 'planned') return shown;
    const { planHash } = shown.preview;
    return starting.start({ policy, planHash, by: 'person', reason: 'after the loss' });
  });
  night.trace(
    'person',
    () => `start ${policy}: ${result?.kind} ${result && 'reason' in result ? result.reason : ''}`,
  );
  spoken();
}
