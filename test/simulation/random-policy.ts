import { defaultDataFlow } from '../../src/config/schema/gates-schema.ts';
import { needsCollectorZone } from '../../src/rollout/calendar/calendar.ts';
import type {
  Amount,
  CapRule,
  CollectorKey,
  FreezeRule,
  GateRule,
  Isolation,
  PaceRule,
  Policy,
  Selector,
  WaveRule,
  WaveSize,
  WindowRule,
} from '../../src/rollout/model/policy.ts';
import { aPolicy, aWaveRule } from '../support/builders.ts';
import { type Chances, makeChances } from './chances.ts';
import type { FeatureKind, LeanKind, Setup } from './setup.ts';
import { errorQuery } from './world/search-model.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'America/Sao_Paulo',
  'UTC',
] as const;

/** Draws a policy over all of DESIGN §4; what a feature is switched off for has its default. */
export function drawPolicy(setup: Setup, name: string, startsAt: number): Policy {
  const draw = (concern: string) => makeChances(setup.seed, `${name}/${concern}`);
  const leansTo = (kind: LeanKind) => setup.leansTo.includes(kind);
  const when = <T>(
    feature: FeatureKind,
    probability: number,
    value: (chances: Chances) => T,
    otherwise: T,
  ) => {
    const chances = draw(feature);
    return chances.hit(probability) && setup.features[feature] ? value(chances) : otherwise;
  };
  const basics = draw('basics');
  const drawnConcurrency = basics.pick([1, 2, 3, 5, 8, 20]);
  // One after the other, it has creates for hours while gates of the first policy are asked.
  const isSlowSecond = leansTo('secondPolicy') && name === 'second';
  // The first one comes to its gates again and again, because nothing else stops it.
  const isUnhindered = leansTo('secondPolicy');
  const concurrency = isSlowSecond ? 1 : drawnConcurrency;
  const expectMs = basics.pick([3, 5, 5, 8]) * minuteMs;
  return aPolicy({
    name,
    timeZone: basics.pick(zones),
    concurrency,
    select: {
      include: {},
      exclude: when('exclude', 0.4, drawExclusions, []),
      ...when<{ readonly share?: number }>(
        'share',
        isUnhindered ? 0 : 0.15,
        (chances) => ({ share: chances.pick([30, 60, 90]) }),
        {},
      ),
    },
    target: {
      version: 'latest',
      allowDowngrade: basics.hit(0.3),
      minimumAgeMs: when('minimumAge', 0.1, (chances) => chances.int(1, 4) * hourMs, 0),
      supersede: when('supersede', leansTo('supersede') ? 1 : 0.3, () => true, false),
    },
    spreadBy: when(
      'strata',
      leansTo('strata') ? 1 : 0.6,
      (chances) => (leansTo('strata') ? ['osName', 'osArch'] : drawSpread(chances)),
      [],
    ),
    isolate: when<Isolation>(
      'isolate',
      leansTo('strata') ? 1 : 0.75,
      () => (!leansTo('strata') && draw('isolateAttributes').hit(0.5) ? 'attributes' : 'strata'),
      'off',
    ),
    maxInFlightPer: when('caps', 0.5, drawCaps, []),
    ...when<{ readonly pace?: PaceRule }>(
      'pace',
      isUnhindered ? 0 : 0.2,
      (chances) => ({ pace: drawPace(chances) }),
      {},
    ),
    approval: when('planApproval', leansTo('approval') ? 0.6 : isUnhindered ? 0 : 0.2, () => true, false),
    windows: when('windows', isUnhindered ? 0 : 0.25, drawWindows, []),
    freezes: when('freezes', isUnhindered ? 0 : 0.15, (chances) => drawFreezes(chances, startsAt), []),
    onBreach: when(
      'onBreach',
      leansTo('rollback') ? 1 : 0.5,
      (chances) =>
        leansTo('rollback') ? 'rollback' : chances.pick(['abort', 'rollback', 'rollback'] as const),
      'hold',
    ),
    lostWeight: basics.pick([1, 3, 2.5]),
    upgrade: {
      deadlineMs: basics.pick([35, 45]) * minuteMs,
      verifyWithinMs: basics.pick([5, 10, 20]) * minuteMs,
      expectMs,
    },
    retry: {
      maxAttempts: basics.int(1, 4),
      backoff: {
        initialMs: basics.pick([1, 2, 10]) * minuteMs,
        factor: basics.pick([1, 2, 3]),
        maxMs: hourMs,
        jitter: basics.pick([0, 0.2]),
      },
    },
    defer: { upToMs: basics.pick([0.25, 1, 4, 12]) * hourMs },
    waves: drawWaves(
      draw,
      when,
      startsAt,
      isSlowSecond ? (kind) => kind !== 'gates' && leansTo(kind) : leansTo,
    ),
  });
}

/** The same policy in a config before it: it selected others. */
export function drawOlder(setup: Setup, policy: Policy): Policy {
  const chances = makeChances(setup.seed, `${policy.name}/older`);
  const { include, exclude } = policy.select;
  return {
    ...policy,
    select: { include, exclude: exclude.length > 0 && chances.hit(0.5) ? [] : drawExclusions(chances) },
  };
}

/** The same policy with other windows, freezes, slots, caps and limits. */
export function drawBrakes(chances: Chances, policy: Policy, now: number): Policy {
  const changed = <T>(before: T, value: () => T): T => (chances.hit(0.5) ? value() : before);
  // Where a plan did not ask for the zones of its collectors, what needs them waits for the next one.
  const own = <T extends { readonly timeZone: string }>(rules: readonly T[]): readonly T[] =>
    needsCollectorZone(policy)
      ? rules
      : rules.map((rule) => (rule.timeZone === 'collector' ? { ...rule, timeZone: policy.timeZone } : rule));
  const concurrency = changed(policy.concurrency, () => chances.pick([1, 1, 2, 3, 8]));
  const { pace, ...others } = policy;
  return {
    ...others,
    concurrency,
    ...changed(pace === undefined ? {} : { pace }, () =>
      chances.hit(0.7) ? { pace: drawPace(chances) } : {},
    ),
    windows: changed(policy.windows, () => (chances.hit(0.4) ? own(drawWindows(chances)) : [])),
    freezes: changed(policy.freezes, () => (chances.hit(0.6) ? own(drawFreezes(chances, now)) : [])),
    maxInFlightPer: policy.maxInFlightPer.map(({ key, cap }) => ({
      key,
      cap: changed(cap, () => chances.int(1, 4)),
    })),
    waves: policy.waves.map(({ pace: paceOfWave, windows, notBefore, ...wave }) => ({
      ...wave,
      ...changed({ ...(paceOfWave && { pace: paceOfWave }) }, () => ({})),
      ...changed({ ...(windows && { windows }) }, () =>
        chances.hit(0.3) ? { windows: own(drawWindows(chances)) } : {},
      ),
      ...changed({ ...(notBefore !== undefined && { notBefore }) }, () => ({})),
      maxFailures: changed(wave.maxFailures, () => drawAmount(chances)),
    })),
    defer: changed(policy.defer, () => ({ upToMs: chances.pick([0.25, 1, 4, 12]) * hourMs })),
  };
}

function drawWaves(
  draw: (concern: string) => Chances,
  when: <T>(feature: FeatureKind, probability: number, value: (chances: Chances) => T, otherwise: T) => T,
  startsAt: number,
  leansTo: (kind: LeanKind) => boolean,
): readonly WaveRule[] {
  const hasManyGates = leansTo('gates');
  const isUnhindered = leansTo('secondPolicy');
  const gatesShare = hasManyGates ? 0.8 : isUnhindered ? 0 : 0.2;
  const searchesShare = hasManyGates ? (isUnhindered ? 1 : 0.8) : isUnhindered ? 0 : 0.35;
  const count = when('waves', isUnhindered ? 1 : 0.85, (chances) => chances.int(isUnhindered ? 4 : 2, 4), 1);
  const names = ['canary', 'early', 'most', 'rest'];
  return Array.from({ length: count }, (_, index) => {
    const chances = draw(`wave ${index}`);
    const isLast = index === count - 1;
    const soaks = draw(`soak ${index}`).hit(0.6);
    const gates = draw(`gates ${index}`);
    const approves = draw(`approval ${index}`).hit(leansTo('approval') ? 0.5 : 0.2);
    const isMatch = draw(`match ${index}`).hit(0.15);
    const searched = draw(`searches ${index}`);
    const searches = when(
      'searches',
      1,
      () => (searched.hit(searchesShare) ? drawSearches(searched) : []),
      [],
    );
    const soakMs = when('soak', 1, () => (soaks ? chances.pick([1, 10, 30, 120]) * minuteMs : 0), 0);
    const rule: WaveRule = {
      ...aWaveRule({ name: isLast ? 'rest' : (names[index] ?? `wave ${index}`) }),
      size: isLast ? { kind: 'percent', percent: 100 } : drawSize(chances),
      soakMs: Math.max(soakMs, ...searches.map(soakMsFor)),
      maxFailures:
        leansTo('failures') || isUnhindered
          ? { kind: 'percent', percent: 100 }
          : leansTo('rollback')
            ? { kind: 'count', count: 0 }
            : drawAmount(chances),
      approval: when('waveApproval', 1, () => approves && (leansTo('approval') || !isUnhindered), false),
      gates: [...when('gates', 1, () => (gates.hit(gatesShare) ? drawGates(gates) : []), []), ...searches],
    };
    const match: Selector = { osName: ['Linux'] };
    const paces = draw(`pace ${index}`);
    const opens = draw(`calendar ${index}`);
    return {
      ...rule,
      ...(!isLast && when('match', 1, () => isMatch, false) ? { match } : {}),
      ...when('pace', 1, () => (paces.hit(isUnhindered ? 0 : 0.1) ? { pace: drawPace(paces) } : {}), {}),
      ...when('ownCalendar', 1, () => (isUnhindered ? {} : drawOwnCalendar(opens, startsAt)), {}),
    };
  });
}

function drawPace(chances: Chances): PaceRule {
  const perHour = chances.pick([20, 60, 200]);
  const from = chances.hit(0.5) ? perHour : chances.int(5, perHour);
  return { perHour, from, factor: chances.pick([1.5, 2, 4]), after: chances.pick([1, 3, 10]) };
}

function drawOwnCalendar(chances: Chances, startsAt: number): Pick<WaveRule, 'windows' | 'notBefore'> {
  const at = new Date(startsAt + chances.int(-6, 18) * hourMs).toISOString().slice(0, 16);
  return {
    ...(chances.hit(0.1) && { windows: chances.hit(0.3) ? [] : drawWindows(chances) }),
    ...(chances.hit(0.1) && { notBefore: at }),
  };
}

function drawSize(chances: Chances): WaveSize {
  const kind = chances.int(0, 3);
  if (kind === 0) return { kind: 'perStratum', count: chances.int(1, 2) };
  if (kind === 1) return { kind: 'percent', percent: chances.pick([2, 10, 33.3]) };
  return { kind: 'count', count: chances.int(1, 5) };
}

function drawAmount(chances: Chances): Amount {
  if (chances.hit(0.4)) return { kind: 'percent', percent: chances.pick([1, 5, 20, 50]) };
  return { kind: 'count', count: chances.pick([0, 0, 1, 2, 5, 30]) };
}

function drawGates(chances: Chances): readonly GateRule[] {
  return Array.from({ length: chances.int(1, 2) }, (_, index): GateRule => {
    const shared = {
      name: `gate ${index}`,
      dryRun: chances.hit(0.15),
      everyMs: chances.pick([30_000, 60_000]),
      url: 'http://gate.example',
    };
    if (chances.hit(0.4)) return { ...shared, kind: 'webhook' };
    const expect = { operator: '>=', value: 0.99 } as const;
    return {
      ...shared,
      kind: 'prometheus',
      query: 'up',
      expect,
      forMs: chances.pick([0, 2 * minuteMs, 10 * minuteMs]),
    };
  });
}

/** `dataFlow: required`, a data flow of the policy's own, or another search. */
function drawSearches(chances: Chances): readonly GateRule[] {
  const own = { ...{ name: 'flow', dryRun: chances.hit(0.1) }, everyMs: chances.pick([30_000, 60_000]) };
  if (chances.hit(0.3)) return [defaultDataFlow];
  if (chances.hit(0.3)) {
    const expect = { operator: '<', value: 100 } as const;
    return [{ ...own, kind: 'search', query: errorQuery, expect, fromMs: 10 * minuteMs }];
  }
  const windowMs = chances.pick([2, 5, 20]) * minuteMs;
  const comparedToMs = chances.pick([1, 24, 7 * 24]) * hourMs;
  return [{ ...own, kind: 'dataFlow', windowMs, comparedToMs, atLeast: chances.pick([0.2, 0.7, 1]) }];
}

/** The config allows no shorter one (`checkDataFlow` in waves-schema.ts). */
function soakMsFor(gate: GateRule): number {
  return gate.kind === 'dataFlow' ? gate.windowMs + minuteMs : 0;
}

function drawExclusions(chances: Chances): readonly Selector[] {
  return [
    chances.pick<Selector>([{ osName: ['Mac*'] }, { id: [3, 7, 11] }, { fields: { cluster: ['c1'] } }]),
  ];
}

function drawSpread(chances: Chances): readonly CollectorKey[] {
  const keys: readonly CollectorKey[] = ['osName', 'osArch', 'collectorVersion'];
  return chances.hit(0.2) ? ['fields.cluster'] : keys.slice(0, chances.int(1, 3));
}

function drawCaps(chances: Chances): readonly CapRule[] {
  const first: CapRule = {
    key: chances.pick(['fields.cluster', 'fields.cluster', 'category'] as const),
    cap: chances.int(1, 3),
  };
  return chances.hit(0.3) ? [first, { key: 'osName', cap: chances.int(1, 6) }] : [first];
}

function drawWindows(chances: Chances): readonly WindowRule[] {
  return Array.from({ length: chances.int(1, 2) }, () => {
    const fromMinute = chances.int(0, 47) * 30;
    const lastsMinutes = chances.int(4, 24) * 30;
    const days = chances.hit(0.5)
      ? [1, 2, 3, 4, 5, 6, 7]
      : [1, 2, 3, 4, 5, 6, 7].filter(() => chances.hit(0.7));
    return {
      days: days.length === 0 ? [1] : days,
      fromMinute,
      toMinute: (fromMinute + lastsMinutes) % 1440,
      timeZone: chances.hit(0.5) ? 'collector' : chances.pick(zones),
    };
  });
}

function drawFreezes(chances: Chances, startsAt: number): readonly FreezeRule[] {
  const from = startsAt + chances.int(-12, 12) * hourMs;
  const text = (at: number) => new Date(at).toISOString().slice(0, 16);
  return [
    {
      from: text(from),
      to: text(from + chances.int(1, 36) * hourMs),
      reason: 'holidays',
      timeZone: chances.hit(0.4) ? 'collector' : chances.pick(zones),
    },
  ];
}
