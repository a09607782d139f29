import { z } from 'zod';
import { nearestText } from '../../base/names.ts';
import { quote } from '../source/config-error.ts';
import { ServiceSchema } from './service-schema.ts';
import { partOf, shortName, type WholeReport } from './value-schemas.ts';

// Each account has its own connections to Redis and its own loops.
const accountsMax = 20;

const AccountSchema = ServiceSchema.safeExtend({
  keyPrefix: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'must be 1 to 128 letters, digits, "_", ".", ":" or "-"')
    .exactOptional()
    .describe(
      'The prefix of the keys of this account in Redis, redis.keyPrefix with the name of the account where omitted. Give redis.keyPrefix itself to the account that was `service` before, and its rollouts continue.',
    ),
}).describe('An account, with the keys of `service`.');

/** Accounts by their names. */
export const AccountsSchema = z
  .record(shortName(), AccountSchema)
  .refine((accounts) => Object.keys(accounts).length > 0, 'is empty; give at least one account, or service')
  .refine(
    (accounts) => Object.keys(accounts).length <= accountsMax,
    `must have at most ${accountsMax} accounts`,
  )
  .describe(
    'Several accounts of the service, by their names, instead of `service`. Each has the keys of `service`, its own API budget, and its own rollouts.',
  );

/** The name of a policy in one of several accounts. */
export function nameInAccount(policy: string, account: string): string {
  return `${policy}-${account}`;
}

// The limit of `shortName`. A long account name may exceed it.
const nameLengthMax = 63;

/** Reports mismatches between the accounts and policies of a file. It accepts parts of any type. */
export function reportAccounts(file: Record<string, unknown>, report: WholeReport): void {
  const { service, accounts, rollouts } = file;
  const isBoth = service !== undefined && accounts !== undefined;
  const isNone = service === undefined && accounts === undefined;
  if (isBoth) report('cannot be used with service; keep one of them', ['accounts']);
  if (isNone) report('is missing; give service, or accounts for several', ['service']);
  if (file['learnFrom'] !== undefined && !isBoth && service !== undefined)
    report('needs accounts; there is only service, so remove the key', ['learnFrom']);
  if (isBoth || isNone) return;
  const known = accounts === undefined ? undefined : namesOf(accounts);
  if (known?.length === 0) return;
  const policies = Array.isArray(rollouts) ? rollouts : [];
  let isWrong = false;
  const used = policies.flatMap((policy, index) =>
    usedBy(policy, index, known, (...problem) => {
      isWrong = true;
      report(...problem);
    }),
  );
  reportSameNames(policies, known ?? [], report);
  // A typo in a policy also leaves an account without a policy.
  const unused = isWrong || policies.length === 0 ? [] : (known ?? []).filter((name) => !used.includes(name));
  for (const name of unused)
    report(`no policy uses this account; remove it, or give a policy account: ${name}`, ['accounts', name]);
  reportSamePrefixes(accounts, report);
}

function namesOf(accounts: unknown): readonly string[] {
  return typeof accounts === 'object' && accounts !== null ? Object.keys(accounts) : [];
}

/** The accounts that a policy names, as a list; with one account it need not. */
function usedBy(
  policy: unknown,
  index: number,
  known: readonly string[] | undefined,
  report: WholeReport,
): readonly string[] {
  const [one, many] = [partOf(policy, 'account'), partOf(policy, 'accounts')];
  if (one !== undefined && many !== undefined)
    report('cannot be used with account; keep one of them', ['rollouts', index, 'accounts']);
  const named = [
    ...(typeof one === 'string' ? [{ name: one, path: ['account'] }] : []),
    ...(Array.isArray(many) ? many : []).flatMap((name: unknown, at) =>
      typeof name === 'string' ? [{ name, path: ['accounts', at] }] : [],
    ),
  ];
  for (const { name, path } of named) {
    const problem =
      known === undefined ? 'there are no accounts, only service; remove the key' : unknownText(name, known);
    if (problem !== undefined) report(problem, ['rollouts', index, ...path]);
  }
  const isOpen = one === undefined && many === undefined;
  if (isOpen && known !== undefined && known.length > 1)
    report(`names no account, and there are several; give account: ${known[0]}, or accounts`, [
      'rollouts',
      index,
    ]);
  return isOpen ? (known ?? []) : named.map(({ name }) => name);
}

function unknownText(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  const nearest = nearestText(name, known);
  const hint = nearest === undefined ? `there are ${known.join(', ')}` : `did you mean ${quote(nearest)}?`;
  return `there is no account ${quote(name)}; ${hint}`;
}

/** `prod` in the account `eu` is called `prod-eu`, and so may be another policy. */
function reportSameNames(policies: readonly unknown[], known: readonly string[], report: WholeReport): void {
  const plain = new Map(policies.map((policy, index) => [partOf(policy, 'name'), index] as const));
  policies.forEach((policy, index) => {
    const [name, accounts] = [partOf(policy, 'name'), partOf(policy, 'accounts')];
    if (typeof name !== 'string' || !Array.isArray(accounts)) return;
    for (const account of known.filter((each) => accounts.includes(each))) {
      const full = nameInAccount(name, account);
      const other = plain.get(full);
      if (full.length > nameLengthMax)
        report(`is too long: in account ${account} the policy is called ${quote(full)}`, [
          'rollouts',
          index,
          'name',
        ]);
      else if (other !== undefined)
        report(`the policy ${quote(name)} is called so in account ${account}; names must be unique`, [
          ...['rollouts', other, 'name'],
        ]);
    }
  });
}

function reportSamePrefixes(accounts: unknown, report: WholeReport): void {
  const seen = new Set<unknown>();
  for (const name of namesOf(accounts)) {
    const prefix = partOf(partOf(accounts, name), 'keyPrefix');
    if (prefix !== undefined && seen.has(prefix))
      report('another account has this prefix; each needs its own', ['accounts', name, 'keyPrefix']);
    seen.add(prefix);
  }
}
