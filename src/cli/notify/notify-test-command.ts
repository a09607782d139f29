import { randomUUID } from 'node:crypto';
import { notInConfig } from '../../base/names.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { makeSendNotice } from '../../observability/notifications/send-notice.ts';
import type { SendResult } from '../../orchestrator/ports/notifications.ts';
import type { Notice } from '../../rollout/model/notice.ts';
import type { Receiver } from '../../rollout/model/receiver.ts';
import { type CommandOptions, UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { openConfig } from '../shell/open-config.ts';
import { stopSignal } from '../shell/stop-signal.ts';

/** `upwave notify test`: sends a message to each receiver, or to one of them, without a daemon. */
export async function notifyTestCommand(
  name: string | undefined,
  options: CommandOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const config = openConfig(options.config);
  const clock = { now: () => Date.now() };
  const send = makeSendNotice({ installation: config.installation, publicUrl: config.http.publicUrl, clock });
  const stop = stopSignal();
  const results: Array<{ readonly receiver: string } & SendResult> = [];
  for (const receiver of chosen(config.notify, name)) {
    const result = await send(receiver, testNotice(clock.now()), null, stop);
    results.push({ receiver: receiver.name, ...result });
    if (!options.json) output.out.write(`${toPrintable(`${receiver.name}: ${resultText(result)}`)}\n`);
  }
  if (options.json) printJson(output, { results });
  return results.every(({ kind }) => kind === 'sent') ? exitCodes.done : exitCodes.unreachable;
}

function resultText(result: SendResult): string {
  return result.kind === 'sent' ? 'sent' : `${result.kind}: ${result.reason}`;
}

/** @throws CommandFailure when the config has no receiver, or none with this name */
function chosen(receivers: readonly Receiver[], name: string | undefined): readonly Receiver[] {
  const found = name === undefined ? receivers : receivers.filter((receiver) => receiver.name === name);
  if (found.length > 0) return found;
  const names = receivers.map((receiver) => receiver.name);
  if (name !== undefined && names.length > 0)
    throw new UsageFailure(toPrintable(notInConfig('receiver', name, names)));
  throw new UsageFailure('the config has no receivers: list them under notify:');
}

function testNotice(at: number): Notice {
  const id = `test/${randomUUID()}`;
  const policy = 'upwave';
  return {
    id,
    incident: id,
    phase: 'once',
    at,
    policy,
    details: { event: 'test' },
    figures: null,
    commands: [],
  };
}
