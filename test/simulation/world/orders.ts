import { isSameBuild } from '../../../src/base/build-version.ts';
import type { Rollout } from '../../../src/rollout/model/rollout.ts';

/** What people said that forbids creates: in force from the answer to it until someone asks for the contrary (P4). */
export interface Orders {
  /** Changes with each word and each answer. */
  moment(): number;
  /** What was said of rollouts that are lost has nothing left that it is about. */
  forgetRollouts(): void;
  asks(keys: readonly string[]): () => void;
  /** Whether anybody has ever asked for the contrary of what forbids by this key. */
  isLifted(key: string): boolean;
  /** Begins an order; call the result when it was answered. */
  forbids(keys: readonly string[]): () => void;
  /** Somebody is about to ask for a rollback of these: with what they saw, and whether at any time. */
  rollbackAsked(rolloutId: string, asked: { readonly collectors: number; readonly now: boolean }): void;
  /** The most collectors that anybody saw in a rollback that they asked for; undefined: nobody has. */
  shownOf(rolloutId: string): number | undefined;
  /** Whether anybody let it, or what it takes back, start outside windows. */
  mayStartAnyTime(rollout: Pick<Rollout, 'id' | 'rollback'>): boolean;
  forbidding(create: {
    readonly rolloutId: string;
    readonly kind: 'upgrade' | 'rollback';
    readonly collectorId: number;
    readonly build: string;
    readonly stratum: string;
    /** Whether the collector belongs to a group, by its label. */
    readonly isOfGroup: (label: string) => boolean;
  }): string | undefined;
}

export function makeOrders(): Orders {
  const inForce = new Set<string>();
  const lifting = new Map<string, number>();
  const lifted = new Map<string, number>();
  const shown = new Map<string, number>();
  const atAnyTime = new Set<string>();
  let moment = 0;
  return {
    rollbackAsked: (rolloutId, { collectors, now }) => {
      shown.set(rolloutId, Math.max(collectors, shown.get(rolloutId) ?? 0));
      if (now) atAnyTime.add(rolloutId);
    },
    shownOf: (rolloutId) => shown.get(rolloutId),
    mayStartAnyTime: ({ id, rollback }) => atAnyTime.has(id) || atAnyTime.has(rollback.original ?? ''),
    moment: () => moment,
    forgetRollouts: () => {
      for (const key of inForce) if (!/^(build|collector|group)\//.test(key)) inForce.delete(key);
    },
    asks: (keys) => {
      moment += 1;
      for (const key of keys) {
        inForce.delete(key);
        lifting.set(key, (lifting.get(key) ?? 0) + 1);
      }
      return () => {
        moment += 1;
        for (const key of keys) {
          lifting.set(key, (lifting.get(key) ?? 1) - 1);
          lifted.set(key, moment);
        }
      };
    },
    isLifted: (key) => lifting.has(key),
    forbids: (keys) => {
      moment += 1;
      const askedAt = moment;
      return () => {
        moment += 1;
        // Who asks for both at once gets one of them.
        for (const key of keys) {
          if ((lifting.get(key) ?? 0) === 0 && (lifted.get(key) ?? 0) <= askedAt) inForce.add(key);
        }
      };
    },
    forbidding: ({ rolloutId, kind, collectorId, build, stratum, isOfGroup }) => {
      for (const key of [
        `rollout/${rolloutId}`,
        `collector/${collectorId}`,
        `stratum/${rolloutId}/${stratum}`,
      ]) {
        if (inForce.has(key)) return key;
      }
      if (kind === 'rollback') return undefined;
      // A rollback takes both back.
      return [...inForce].find((key) => {
        const [, what, subject = ''] = /^(build|group)\/(.*)$/s.exec(key) ?? [];
        return what === 'build' ? isSameBuild(subject, build) : what === 'group' && isOfGroup(subject);
      });
    },
  };
}
