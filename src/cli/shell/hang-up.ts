// State of the process, as its signals are: from its first statement until a command is known.
let cameEarly = false;

const note = (): void => {
  cameEarly = true;
};

/**
 * Remembers a SIGHUP from now on, which otherwise ends the process. Called before the libraries are loaded, which takes a
 * second: a deploy may restart the daemon, write its config and send SIGHUP within that time.
 */
export function noteHangUps(): void {
  process.on('SIGHUP', note);
}

/** For the daemon: calls this at each SIGHUP, and now if one came since the start. */
export function followHangUps(onHangUp: () => void): void {
  process.on('SIGHUP', onHangUp);
  process.off('SIGHUP', note);
  if (cameEarly) onHangUp();
  cameEarly = false;
}

/** For every other command: a SIGHUP ends it as usual, such as when its terminal is closed. */
export function endAtHangUp(): void {
  process.off('SIGHUP', note);
  if (cameEarly) process.kill(process.pid, 'SIGHUP');
}
