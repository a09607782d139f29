import { formatDuration } from '../../base/time.ts';
import { effectiveWindow } from '../../config/show/effective-policy.ts';
import { formatAmount, type Policy } from '../../rollout/model/policy.ts';
import { paceText, windowText } from '../../rollout/reload/policy-difference.ts';

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
    ...limitLines(policy).map((line) => `  ${line}`),
    ...approvalLines(policy),
    ...policy.waves.flatMap(({ name: wave, gates }) =>
      gates.length === 0 ? [] : [`  gates of ${wave}: ${gates.map(gateText).join(', ')}`],
    ),
  ];
}

/** The share of the collectors, and what limits starts in time beside windows and freezes. */
export function limitLines({ select: { share }, pace, waves, timeZone }: Policy): readonly string[] {
  return [
    ...(share === undefined ? [] : [`share: ${share}% of the selected collectors`]),
    ...(pace === undefined ? [] : [`pace: ${paceText(pace)}`]),
    ...waves.flatMap(({ name, ...wave }) => [
      ...(wave.pace === undefined ? [] : [`pace of ${name}: ${paceText(wave.pace)}`]),
      ...(wave.windows === undefined
        ? []
        : [`windows of ${name}: ${wave.windows.map(windowText).join('; ') || 'any time'}`]),
      ...(wave.notBefore === undefined
        ? []
        : [`start of ${name}: not before ${wave.notBefore.replace('T', ' ')} ${timeZone}`]),
    ]),
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
