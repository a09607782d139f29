#!/usr/bin/env node
import './cli/shell/drop-debug.ts';
import { runProgram } from './cli/program.ts';
import { endOnBrokenPipe } from './cli/shell/stop-signal.ts';

endOnBrokenPipe([process.stdout, process.stderr], {
  mayStop: () => process.listenerCount('SIGTERM') > 0,
  stop: () => process.emit('SIGTERM'),
  exit: () => process.exit(),
});

process.exitCode = await runProgram(process.argv);
