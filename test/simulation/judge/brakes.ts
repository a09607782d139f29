import type { Policy } from '../../../src/rollout/model/policy.ts';
import { isRolloutEnd } from '../../../src/rollout/model/rollout.ts';
import type { SeenRollout } from './seen-rollouts.ts';
import type { Verdicts } from './verdicts.ts';

/** The brakes that were reported to a person as in force, by rollout: from the answer to a reload until the next one is asked for. */
export interface Brakes {
  /** A reload begins; call the result with the config and the rollouts that its answer names, or with nothing. */
  asks(daemon: string): (answer?: { readonly config: number; readonly rollouts: readonly string[] }) => void;
  /**
   * By which creates of a rollout are judged.
   * @param intended the policy when the create's intent was stored: until a change is acknowledged, one that was about to
   *   leave may still do so by that
   */
  policyOf(of: SeenRollout, intended?: Policy): Policy;
  /** A rollout was saved: its record has the brakes that were acknowledged. */
  judge(verdicts: Verdicts, of: SeenRollout): void;
  /** The config that was acknowledged last, as long as it is in force. */
  acknowledged(): number | undefined;
  /** The store was emptied, or daemons were started with another config: what was acknowledged may be taken back. */
  forget(): void;
}

export function makeBrakes(policiesOf: (config: number) => readonly Policy[]): Brakes {
  let inForce: { readonly config: number; readonly rollouts: ReadonlySet<string> } | undefined;
  let asked = 0;
  let open = 0;
  /** Their last reload was not answered: they have read the file, and say so when Redis is back, however late. */
  const unanswered = new Set<string>();
  const presentOf = ({ rollout }: SeenRollout): Policy | undefined => {
    // Which brakes a rollback has, is its own matter.
    if (
      open > 0 ||
      unanswered.size > 0 ||
      rollout.kind === 'rollback' ||
      inForce?.rollouts.has(rollout.id) !== true
    )
      return undefined;
    return policiesOf(inForce.config).find(({ name }) => name === rollout.policy.name);
  };
  const policyOf = (of: SeenRollout, intended = of.rollout.policy): Policy => {
    const present = presentOf(of);
    return present === undefined ? intended : withBrakes(intended, present);
  };
  return {
    asks: (daemon) => {
      asked += 1;
      open += 1;
      const own = asked;
      const isFirst = open === 1;
      return (answer) => {
        open -= 1;
        if (answer === undefined) unanswered.add(daemon);
        else unanswered.delete(daemon);
        // Of two that overlap, nobody knows which was the later one: not even when the one that was asked last is answered last.
        const isAlone = isFirst && asked === own;
        inForce =
          answer === undefined || !isAlone
            ? undefined
            : { config: answer.config, rollouts: new Set(answer.rollouts) };
      };
    },
    policyOf,
    judge: (verdicts, of) => {
      if (presentOf(of) === undefined || isRolloutEnd(of.rollout.state)) return;
      const [recorded, reported] = [brakesOf(of.rollout.policy), brakesOf(policyOf(of))];
      verdicts.check(
        'P4',
        recorded === reported,
        `${of.rollout.id} follows ${recorded}, and a reload was answered with ${reported}`,
      );
    },
    acknowledged: () => inForce?.config,
    forget: () => {
      inForce = undefined;
    },
  };
}

/** A frozen policy as it is to be followed, by arithmetic of its own (DESIGN §4, Reload). */
function withBrakes(frozen: Policy, present: Policy): Policy {
  const { pace: _pace, ...others } = frozen;
  return {
    ...others,
    ...(present.pace && { pace: present.pace }),
    concurrency: present.concurrency,
    windows: present.windows,
    freezes: present.freezes,
    timeZone: present.timeZone,
    lostWeight: present.lostWeight,
    isolate: present.isolate,
    defer: present.defer,
    maxInFlightPer: frozen.maxInFlightPer.map(
      (rule) => present.maxInFlightPer.find(({ key }) => key === rule.key) ?? rule,
    ),
    waves: frozen.waves.map((wave) => {
      const rule = present.waves.find(({ name }) => name === wave.name);
      if (rule === undefined) return wave;
      const { maxFailures, pace, windows, notBefore } = rule;
      const { pace: _, windows: __, notBefore: ___, ...kept } = wave;
      const given = { ...(pace && { pace }), ...(windows && { windows }), ...(notBefore && { notBefore }) };
      return { ...kept, maxFailures, ...given };
    }),
  };
}

function brakesOf({
  concurrency,
  pace,
  windows,
  freezes,
  maxInFlightPer,
  waves,
  defer,
  lostWeight,
}: Policy): string {
  const limits = waves.map((wave) => [wave.maxFailures, wave.pace, wave.windows, wave.notBefore]);
  return JSON.stringify({ concurrency, pace, windows, freezes, maxInFlightPer, limits, defer, lostWeight });
}
