import { runAtOnce } from '../../base/steps.ts';
import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import { accountText } from '../../rollout/messages/account-texts.ts';
import {
  type AccountMark,
  type AccountStatus,
  hasMark,
  judgeAccount,
  needsPerson,
  type SampledCollector,
  sampleMax,
} from '../../rollout/model/account.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { inHashOrder } from '../../rollout/planning/group-collectors.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { Accounts } from '../ports/accounts.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import type { BackgroundTasks } from '../ports/leader.ts';
import { type ChangeRolloutParts, changeRollout } from './change-rollout.ts';

export interface AccountsParts extends Omit<ChangeRolloutParts, 'accounts'> {
  /** Origin and hashed access id of the config. Read each time, because a data loss of Redis changes the hash key. */
  readonly readMark: () => Promise<AccountMark>;
  readonly fleet: Pick<FleetService, 'findCollector'>;
  readonly backgroundTasks: BackgroundTasks;
  readonly clock: Clock;
}

interface Judged {
  readonly policy: string;
  readonly status: AccountStatus;
  /** When the rollout is judged again. */
  readonly againAt: EpochMs;
}

// The sample is drawn from this many collectors of the plan, so that no stratum dominates it.
const membersReadMax = 500;

// Without an answer, the service is asked again soon. A gateway may have mixed up accounts for a while.
const againAfterMs: Readonly<Record<AccountStatus['kind'], DurationMs>> = {
  own: Number.POSITIVE_INFINITY,
  unknown: 5_000,
  another: 60_000,
  unclear: 60_000,
};

/**
 * Judges rollouts by their marks, and by a sample of their collectors if the marks have another access id. This process
 * caches the result. If the account is the same, the rollout stores it, too.
 */
export function makeAccounts(parts: AccountsParts): Accounts {
  const { clock } = parts;
  let ownMark: AccountMark | undefined;
  const judged = new Map<string, Judged>();

  const mark = async (): Promise<AccountMark> => {
    ownMark = await parts.readMark();
    return ownMark;
  };
  const isOwn = async ({ accountMarks: marks, rollback }: Rollout): Promise<boolean> => {
    // A data loss of Redis changes the hash key, so it is read again before a mark counts as that of another account.
    if (hasMark(marks, ownMark ?? (await mark())) || hasMark(marks, await mark())) return true;
    if (rollback.original === null) return false;
    // A small rollback has too few collectors to compare. It belongs to the account of its original rollout.
    const original = await parts.store.loadRollout(rollback.original);
    return original !== undefined && hasMark(original.accountMarks, await mark());
  };
  const isDue = (rolloutId: string): boolean => (judged.get(rolloutId)?.againAt ?? 0) <= clock.now();
  const known = ({ id }: Rollout): AccountStatus => judged.get(id)?.status ?? notCompared;

  const compareAccount = async (rollout: Rollout, signal?: AbortSignal): Promise<AccountStatus> => {
    const status = await compareWithService(parts, rollout, await mark(), signal);
    const before = judged.get(rollout.id)?.status.kind;
    const againAt = clock.now() + againAfterMs[status.kind];
    judged.set(rollout.id, { policy: rollout.policy.name, status, againAt });
    if (status.kind === 'own') await tieTo(parts, rollout, await mark());
    if (needsPerson(status) && before !== status.kind) {
      const { id, policy } = rollout;
      parts.sink.note({
        event: 'rollout.foreign',
        policy: policy.name,
        rollout: id,
        reason: accountText(status),
      });
    }
    parts.wakeUps.wake();
    return status;
  };

  return {
    mark,
    statusOf: async (rollout) => {
      const own = await isOwn(rollout);
      const isOver = rollout.endedAt !== null;
      if (own || isOver) judged.delete(rollout.id);
      if (own) return { kind: 'own' };
      // An ended rollout needs no judgement until an operator opens it again.
      if (isOver) return notCompared;
      if (isDue(rollout.id)) {
        await parts.backgroundTasks.run(`account/${rollout.id}`, async (signal) => {
          // An earlier task may have done it meanwhile.
          if (isDue(rollout.id)) await compareAccount(rollout, signal);
          return 'done';
        });
      }
      return known(rollout);
    },
    settle: async (rollout, signal) => {
      if (await isOwn(rollout)) return { kind: 'own' };
      return isDue(rollout.id) ? compareAccount(rollout, signal) : known(rollout);
    },
    foreign: () =>
      [...judged].flatMap(([rolloutId, { policy, status }]) =>
        needsPerson(status) ? [{ rolloutId, policy, reason: accountText(status) }] : [],
      ),
    forgetEnded: async () => {
      const known = [...judged];
      if (known.length === 0) return;
      const policies = new Set(known.map(([, { policy }]) => policy));
      const active = new Set(await parts.store.activeRolloutIds([...policies]));
      for (const [rolloutId] of known) if (!active.has(rolloutId)) judged.delete(rolloutId);
    },
  };
}

const notCompared: AccountStatus = { kind: 'unknown', reason: '' };

/** Reads some collectors of the plan from the service. */
async function compareWithService(
  { store, fleet }: AccountsParts,
  { id, accountMarks: marks }: Rollout,
  own: AccountMark,
  signal?: AbortSignal,
): Promise<AccountStatus> {
  const members = await store.listUpgrades(id, { offset: 0, limit: membersReadMax });
  // A withdrawn collector may have left the fleet.
  const present = members.filter(({ progress: { state } }) => state !== 'withdrawn');
  const named = present.map(({ identity: { collectorId, collectorName: name } }) => ({
    id: collectorId,
    name,
  }));
  const some = runAtOnce(inHashOrder(named, id)).slice(0, sampleMax);
  const sample: SampledCollector[] = [];
  for (const { id: collectorId, name } of some) {
    const answer = await fleet.findCollector(String(collectorId), signal);
    if (!answer.ok) return { kind: 'unknown', reason: describeFailure(answer.failure) };
    sample.push({ name, nameShown: answer.value?.name });
  }
  return judgeAccount(sample, { marks, own });
}

/** The account of a rollout that was judged as our own right before. */
const justJudged = { statusOf: async () => ({ kind: 'own' }) as const };

/** Adds the mark, so that daemons with the old and with the new key recognise the rollout. */
async function tieTo(parts: AccountsParts, { id }: Rollout, mark: AccountMark): Promise<void> {
  await changeRollout({ ...parts, accounts: justJudged }, id, 'daemon', ({ rollout }) =>
    hasMark(rollout.accountMarks, mark) ? undefined : { kind: 'accountTied', at: parts.clock.now(), mark },
  );
}
