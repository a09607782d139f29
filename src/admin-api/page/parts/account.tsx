import { computed } from '@preact/signals';
import { keptSignal } from './kept.ts';
import { policies } from './live.ts';

/** The accounts of the config; empty where it has one. */
const accountNames = computed(() => [
  ...new Set((policies.value?.policies ?? []).flatMap(({ accountName }) => accountName ?? [])),
]);

const kept = keptSignal('upwave.account', '', (value) => typeof value === 'string');

/** The account that the lists are limited to; empty: all. A kept name may be gone from the config. */
export const chosenAccount = computed(() => (accountNames.value.includes(kept.value) ? kept.value : ''));

interface OfAccount {
  readonly accountName?: string;
}

/** Whether the lists show it. */
export function isOfChosenAccount({ accountName }: OfAccount): boolean {
  return chosenAccount.value === '' || chosenAccount.value === accountName;
}

/** Limits the lists to one account. */
export function AccountSwitch() {
  if (accountNames.value.length < 2) return null;
  return (
    <label class="account">
      Account{' '}
      <select
        value={chosenAccount.value}
        onChange={({ currentTarget }) => (kept.value = currentTarget.value)}
      >
        <option value="">all</option>
        {accountNames.value.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function showAllAccounts(): void {
  kept.value = '';
}

/** The name of an account, where the config has several. */
export function AccountName({ accountName }: OfAccount) {
  if (accountName === undefined || accountNames.value.length < 2) return null;
  return (
    <span class="quiet account-name">
      account <bdi>{accountName}</bdi>
    </span>
  );
}
