#!/usr/bin/env node
import './cli/shell/drop-debug.ts';
import { noteHangUps } from './cli/shell/hang-up.ts';

noteHangUps();

// Imported here, because all that is imported above is loaded before the first statement.
const [{ runProgram }, { endOnBrokenPipe }] = await Promise.all([
  import('./cli/program.ts'),
  import('./cli/shell/stop-signal.ts'),
]);

endOnBrokenPipe([process.stdout, process.stderr], {
  mayStop: () => process.listenerCount('SIGTERM') > 0,
  stop: () => process.emit('SIGTERM'),
  exit: () => process.exit(),
});

process.exitCode = await runProgram(process.argv);
