// What a program needs to find others, its folder for what passes, its language and its clock.
const passedOn = ['PATH', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot'];

/** The environment of a process that we start: not ours, which holds the access key (P12). */
export function childEnvironment(): NodeJS.ProcessEnv {
  const ours = process.env;
  return Object.fromEntries(
    passedOn.flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]]])),
  );
}
