import { compareBuildVersions } from '../../base/build-version.ts';
import type { FailureRule } from '../scenario/happenings.ts';
import { makeRandom, type Random } from '../scenario/random.ts';
import type { Scenario } from '../scenario/scenario.ts';
import {
  type MatchCandidate,
  matchesCollector,
  matchesGlob,
  type ResolvedMatch,
  resolveMatch,
} from './collector-match.ts';
import type { CollectorFacts } from './simulated-collector.ts';

type LostKind = 'lost' | 'lostOnBuild' | 'lostInUpgrade';

/** The outcome of an attempt, fixed when its task is created. */
export type UpgradeOutcome =
  | { readonly kind: 'succeeded' | 'silent' | 'timeout' | 'lateSuccess' | LostKind }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'otherBuild'; readonly build: string | undefined }
  | { readonly kind: 'createCode'; readonly code: NonNullable<FailureRule['code']> };

export interface UpgradeTry {
  readonly facts: CollectorFacts;
  readonly version: string;
  readonly toVersion: string;
  /** Counted from 1 for each collector and target build. */
  readonly attempt: number;
}

export interface ResolvedRule {
  readonly rule: FailureRule;
  readonly match: ResolvedMatch;
}

/** @param upgradable the collectors that could be upgraded at the start */
export function resolveRules(
  { failures, fleet }: Scenario,
  upgradable: readonly MatchCandidate[],
): ResolvedRule[] {
  return failures.map((rule, index) => ({
    rule,
    match: resolveMatch(rule.match, `${fleet.seed}:failure:${index}`, upgradable),
  }));
}

/** Older collectors show a failure only by the time-out (field-facts.md, Upgrades). */
const reportsFailureFrom = '19.182-0';

/**
 * Messages of this service: the vendor's are not public, but the causes are (field-facts.md, Upgrades). A lasting cause
 * makes every attempt of that collector fail.
 */
const failureTexts: readonly [FailureText, ...FailureText[]] = [
  { text: 'download failed: connection reset by peer', lasting: false },
  { text: 'download failed: network is unreachable', lasting: false },
  { text: 'timed out while checking privileges', lasting: false },
  { text: 'not enough disk space in the installation directory', lasting: false },
  { text: 'unable to remove files: a file is in use by another process', lasting: false },
  { text: 'permission denied: the collector does not run as root', lasting: true },
  { text: 'the upgrade is disabled on this collector', lasting: true },
  { text: '', lasting: false },
];

/** 32-bit Windows no longer upgrades (field-facts.md, Upgrades). */
const unsupportedMessage = 'this operating system is not supported by the build';

interface FailureText {
  readonly text: string;
  readonly lasting: boolean;
}

/**
 * Decides the outcome of an attempt: by the first matching rule, else by chance. The same attempt always has the same
 * outcome.
 */
export function decideOutcome(
  scenario: Scenario,
  rules: readonly ResolvedRule[],
  upgradeTry: UpgradeTry,
): UpgradeOutcome {
  const resolved = rules.find(({ rule, match }) => ruleApplies(rule, match, upgradeTry));
  return resolved === undefined
    ? naturalOutcome(scenario, upgradeTry)
    : ruledOutcome(resolved.rule, upgradeTry);
}

function ruleApplies(rule: FailureRule, match: ResolvedMatch, upgradeTry: UpgradeTry): boolean {
  return (
    (rule.attempts === 'all' || rule.attempts.includes(upgradeTry.attempt)) &&
    matchesGlob(rule.toVersion, upgradeTry.toVersion) &&
    matchesCollector(match, upgradeTry)
  );
}

function ruledOutcome(rule: FailureRule, upgradeTry: UpgradeTry): UpgradeOutcome {
  switch (rule.outcome) {
    case 'failed':
      return reported(upgradeTry, rule.message ?? failureTexts[0].text);
    case 'otherBuild':
      return { kind: 'otherBuild', build: rule.build };
    case 'createCode':
      return { kind: 'createCode', code: rule.code ?? 'collector.invalid' };
    default:
      return { kind: rule.outcome };
  }
}

function naturalOutcome(scenario: Scenario, upgradeTry: UpgradeTry): UpgradeOutcome {
  const { facts, toVersion, attempt, version } = upgradeTry;
  if ((compareBuildVersions(version, scenario.tooOldBelow) ?? 0) < 0) return { kind: 'timeout' };
  if (facts.osArch === 'x86') return reported(upgradeTry, unsupportedMessage);
  const collectorRandom = makeRandom(`nature:${scenario.fleet.seed}:${facts.id}:${toVersion}`);
  const first = firstTry(scenario, collectorRandom, upgradeTry);
  if (attempt === 1 || first.kind === 'succeeded') return first;
  const lasting =
    first.kind === 'failed' && failureTexts.some(({ text, lasting }) => lasting && text === first.message);
  const again = makeRandom(`again:${scenario.fleet.seed}:${facts.id}:${toVersion}:${attempt}`);
  return lasting || again.chance(scenario.naturalFailures.again) ? first : { kind: 'succeeded' };
}

function firstTry(scenario: Scenario, random: Random, upgradeTry: UpgradeTry): UpgradeOutcome {
  const { failed, timeout, lost, lostMac } = scenario.naturalFailures;
  const isMac = upgradeTry.facts.osName?.startsWith('Mac') === true;
  const draw = random.next();
  if (draw < (isMac ? lostMac : lost))
    return random.chance(0.5) ? { kind: 'lost' } : { kind: 'lostInUpgrade' };
  const failureDraw = random.next();
  if (failureDraw < failed) return reported(upgradeTry, random.pick(failureTexts).text);
  if (failureDraw < failed + timeout)
    return random.chance(0.2) ? { kind: 'lateSuccess' } : { kind: 'timeout' };
  return { kind: 'succeeded' };
}

function reported(upgradeTry: UpgradeTry, message: string): UpgradeOutcome {
  const order = compareBuildVersions(upgradeTry.version, reportsFailureFrom);
  return order !== undefined && order < 0 ? { kind: 'timeout' } : { kind: 'failed', message };
}
