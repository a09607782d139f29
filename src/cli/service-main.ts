#!/usr/bin/env node
// The reference service alone, which the build makes one file without dependencies: for those who write a client of this API.
import { Command } from 'commander';
import { addServiceOptions } from './run/service-options.ts';
import { CommandFailure, makeCommandRunner } from './shell/command.ts';
import { makeConsoleOutput, makeSafeStreams } from './shell/console-output.ts';

const streams = makeSafeStreams(process);
const program = new Command('upwave-service');
const run = makeCommandRunner({
  globals: () => ({ config: '', json: false, color: false }),
  outputFor: () => makeConsoleOutput(streams, false),
  onEnd: (exitCode) => {
    process.exitCode = exitCode;
  },
});
addServiceOptions(program, run);
try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof CommandFailure)) throw error;
  streams.stderr.stream.write(`upwave-service: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
