import { formatDuration } from '../../base/time.ts';
import { effectiveWindow } from '../../config/show/effective-policy.ts';
import { formatAmount, type Policy } from '../../rollout/model/policy.ts';

/** A summary of a policy: target, speed, waves, windows and approvals. */
export function policyLines(policy: Policy): readonly string[] {
  const { name, target, concurrency, schedule, timeZone } = policy;
  const waves = policy.waves.map(
    ({ name: wave, size, soakMs, maxFailures }) =>
      `${wave} ${formatAmount(size)} (soak ${formatDuration(soakMs)}, failures ${formatAmount(maxFailures)})`,
  );
  return [
    `${name}: to ${target.version}, ${concurrency} at a time, ${schedule} ${timeZone}; ${waves.join(' → ')}`,
    ...openingLines(policy),
    ...approvalLines(policy),
    ...policy.waves.flatMap(({ name: wave, gates }) =>
      gates.length === 0 ? [] : [`  gates of ${wave}: ${gates.map(gateText).join(', ')}`],
    ),
  ];
}

function openingLines({ windows, freezes }: Policy): readonly string[] {
  const open = windows.map(effectiveWindow).map(({ days, from, to, timeZone }) => {
    const on = days.length === 7 ? 'daily' : days.join(', ');
    return `${on} ${from}-${to} ${timeZone}`;
  });
  const frozen = freezes.map(({ from, to, reason, timeZone }) => {
    const why = reason === '' ? '' : ` (${reason})`;
    return `${from} to ${to} ${timeZone}${why}`;
  });
  return [
    ...(open.length === 0 ? [] : [`  windows: ${open.join('; ')}`]),
    ...(frozen.length === 0 ? [] : [`  freezes: ${frozen.join('; ')}`]),
  ];
}

function approvalLines({ approval, waves }: Policy): readonly string[] {
  const wanted = [
    ...(approval ? ['the plan'] : []),
    ...waves.filter((wave) => wave.approval).map(({ name }) => `wave ${name}`),
  ];
  return wanted.length === 0 ? [] : [`  approval of: ${wanted.join(', ')}`];
}

function gateText({ kind, name, dryRun }: Policy['waves'][number]['gates'][number]): string {
  const about = [...(name === kind ? [] : [kind]), ...(dryRun ? ['decides nothing'] : [])];
  return about.length === 0 ? name : `${name} (${about.join(', ')})`;
}
