import type { Command } from 'commander';
import type { CommandRunner } from '../shell/command.ts';
import { fleetSize, positiveNumber, wholeNumber } from '../shell/option-values.ts';

/** Makes a command the reference service. */
export function addServiceOptions(command: Command, run: CommandRunner): void {
  command
    .description('the reference service: the Collector Management API with a simulated fleet')
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 takes a free one', wholeNumber, 8080)
    .option('--fleet <size>', 'how many collectors', fleetSize)
    .option('--fleet-from <file>', 'the collectors from this file, as `collectors list --json` writes it')
    .option('--seed <text>', 'draws another fleet; the same text gives the same one')
    .option('--access-id <id>', 'the access id it accepts (or UPWAVE_ACCESS_ID)')
    .option('--access-key <key>', 'the access key it accepts (or UPWAVE_ACCESS_KEY)')
    .option('--speed <factor>', 'how many times faster than real time the simulation runs', positiveNumber, 1)
    .option('--scenario <file>', 'fleet, builds, durations and faults')
    .option(
      '--state <file>',
      'a file that keeps fleet, sources, tasks and builds over restarts; created when it is missing',
    )
    .option('--openapi', 'print the OpenAPI document of the API, and exit')
    .action(run(async () => (await import('./service-command.ts')).serviceCommand));
}
