import { randomBytes } from 'node:crypto';
import { benchConfig, type Pace } from '../bench-config.ts';
import { scenarioOf } from '../contest/contest.ts';
import { startServiceProcess } from '../processes/service-process.ts';

/** How the fleets are upgraded: `slots` are those of all accounts together. */
export interface AccountsPace extends Pace {
  readonly durations: { readonly median: string; readonly p95: string; readonly max: string };
}

const quick = { slots: 100, expectMs: 50_000, durations: { median: '50s', p95: '70s', max: '90s' } } as const;
// Each account has the whole request rate, and idle budget is used: ten accounts at ten times real speed would send 400
// requests a second.
export function paceOf(accounts: number): AccountsPace {
  return { ...quick, speed: accounts === 1 ? 10 : 2 };
}

export const keyPrefix = 'upwave';

/** An account, the name of its policy, and where the daemon keeps its rollouts. */
export interface BenchAccount {
  readonly account: string;
  readonly policy: string;
  readonly keyPrefix: string;
}

export function namesOf(accounts: number): readonly BenchAccount[] {
  if (accounts === 1) return [{ account: 'main', policy: 'bench', keyPrefix }];
  return Array.from({ length: accounts }, (_each, index) => {
    const account = `a${index}`;
    return { account, policy: `bench-${account}`, keyPrefix: `${keyPrefix}:${account}` };
  });
}

/** A service with the fleets, and the config of a daemon that works for their accounts. */
export async function startAccounts(
  accounts: readonly BenchAccount[],
  collectors: number,
  redisUrl: string,
  pace: AccountsPace,
) {
  const { speed, slots, expectMs, durations } = pace;
  const accessKey = randomBytes(18).toString('base64url');
  const keys = accounts.map(({ account }) => ({ accessId: account, accessKey, user: account, account }));
  const [main] = keys;
  const isOne = accounts.length === 1;
  const fleet = collectors / accounts.length;
  const scenario = isOne
    ? scenarioOf({ collectors, durations })
    : {
        ...scenarioOf({ collectors: 0, durations }),
        accounts: Object.fromEntries(accounts.map(({ account }) => [account, { fleet }])),
        keys,
      };
  const credentials = { accessId: main?.accessId ?? '', accessKey };
  const service = await startServiceProcess({
    scenario,
    speed,
    credentials: isOne ? credentials : { accessId: 'unused', accessKey },
  });
  const schedule = '0 * * * *';
  const ofPace = { speed, expectMs, slots: slots / accounts.length };
  const to = { ...service, credentials, redisUrl };
  if (isOne) return { service, config: benchConfig(ofPace, to, { schedule }) };
  const names = accounts.map(({ account }) => account);
  const { service: each, ...config } = benchConfig(ofPace, to, { schedule, accounts: names });
  const ofAccounts = Object.fromEntries(names.map((accessId) => [accessId, { ...each, accessId }]));
  return { service, config: { ...config, accounts: ofAccounts } };
}
