import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import type { Rollout, RolloutView, WaveState } from '../model/rollout.ts';
import { isFailed, type UpgradeState } from '../model/upgrade.ts';
import { countIn } from '../model/upgrade-figures.ts';
import { type AskedVerb, judgeVerb, type RolloutVerb, rolloutVerbs } from '../verbs/judge-verb.ts';
import { awaitsApproval } from './headline.ts';

/** The part of a status that decides which verbs are possible and with which arguments. */
export interface ShownRollout extends Pick<Rollout, 'kind' | 'state' | 'endedAt'> {
  readonly planHash: string;
  readonly hold: number | null;
  readonly counts: Readonly<Record<UpgradeState, number>>;
  readonly window: { readonly isOpen: boolean } | null;
  readonly waves: ReadonlyArray<{
    readonly name: string;
    readonly state: WaveState;
    readonly waits: string | null;
    readonly soakEndsAt: EpochMs | null;
  }>;
}

/** The verbs that would change something now (DESIGN §5, Status). */
export function legalVerbs(view: RolloutView, status: ShownRollout, now: EpochMs): readonly RolloutVerb[] {
  return rolloutVerbs.filter((verb) => {
    const asked = askedNow(status, verb);
    if (asked === undefined || (verb === 'skipSoak' && isSoakOver(status, now))) return false;
    const { kind } = judgeVerb(view, asked, { by: '', reason: '', at: 0 });
    return kind === 'change' || kind === 'retry';
  });
}

/** A verb with the arguments that fit this status; undefined if there is nothing to apply it to. */
export function askedNow(status: ShownRollout, verb: RolloutVerb): AskedVerb | undefined {
  switch (verb) {
    case 'approve': {
      if (status.state === 'awaitingApproval') return { verb, planHash: status.planHash };
      const wave = awaitsApproval(status) ? waveThat(status, 'awaitingApproval') : undefined;
      return wave === undefined ? undefined : { verb, wave };
    }
    case 'skipSoak': {
      const wave = waveThat(status, 'soaking');
      return wave === undefined ? undefined : { verb, wave };
    }
    case 'resume':
      return status.hold === null ? undefined : { verb, hold: status.hold };
    case 'retry': {
      const failed = countIn(status.counts, isFailed);
      return failed + status.counts.retrying === 0 ? undefined : { verb, failed };
    }
    // Asked of a running rollback, the verb allows it to start outside its window.
    case 'rollback':
      return { verb, now: status.kind === 'rollback' && status.window !== null && !status.window.isOpen };
    case 'pause':
    case 'abort':
      return { verb };
    default:
      return assertNever(verb);
  }
}

/** The wave waits for its last check or its gates then. A skip would only ask for one more check. */
function isSoakOver({ waves }: Pick<ShownRollout, 'waves'>, now: EpochMs): boolean {
  const { soakEndsAt = null } = waves.find(({ state }) => state === 'soaking') ?? {};
  return soakEndsAt !== null && soakEndsAt <= now;
}

function waveThat({ waves }: Pick<ShownRollout, 'waves'>, state: WaveState) {
  return waves.find((wave) => wave.state === state)?.name;
}
