/**
 * The secrets that tests hand out. Each is odd enough to occur nowhere by chance: `secret-watch.ts` looks for them in
 * whatever any test prints (P12).
 */
export const testSecrets = {
  night: { accessId: 'anAccessId', accessKey: 'Zz9-theAccessKey-4711' },
  scripted: { accessId: 'suAccessId01', accessKey: 'aVerySecretAccessKey' },
  commandLine: { accessId: 'anId', accessKey: 'aKey-not-to-be-shown' },
  containers: { accessId: 'containers-id', accessKey: 'containers-key-2b9f' },
  bearerToken: 'Tt-theBearerToken-0815',
  // With an @ inside, since whoever takes the first one for the end of it shows the rest.
  redisPassword: 'Rr-thePassword@Of-The-Redis-2342',
  gateToken: 'Gg-theTokenOfTheGate-1234',
  notifyPath: 'Np-thePathOfAReceiver-9012',
  notifyKey: 'Nk-theKeyOfAReceiver-3456',
  gateSignature: 'Gs-theSignatureOfTheGate-5678',
} as const;
