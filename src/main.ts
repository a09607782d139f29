#!/usr/bin/env node
import './cli/drop-debug.ts';
import { endOnBrokenPipe } from './cli/end-on-broken-pipe.ts';
import { runProgram } from './cli/program.ts';

endOnBrokenPipe([process.stdout, process.stderr], {
  mayStop: () => process.listenerCount('SIGTERM') > 0,
  stop: () => process.emit('SIGTERM'),
  exit: () => process.exit(),
});

process.exitCode = await runProgram(process.argv);
