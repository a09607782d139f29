/**
 * The secrets of the tests. None of them occurs by chance: `secret-watch.ts` searches for them in
 * all output of the tests (P12).
 */
export const testSecrets = {
  night: { accessId: 'anAccessId', accessKey: 'Zz9-theAccessKey-4711' },
  scripted: { accessId: 'suAccessId01', accessKey: 'aVerySecretAccessKey' },
  commandLine: { accessId: 'anId', accessKey: 'aKey-not-to-be-shown' },
  containers: { accessId: 'containers-id', accessKey: 'containers-key-2b9f' },
  bearerToken: 'Tt-theBearerToken-0815',
  // With an @ inside: a masking that ends at the first @ would show the rest.
  redisPassword: 'Rr-thePassword@Of-The-Redis-2342',
  proxyPassword: 'Pp-thePassword@Of-The-Proxy-7812',
  gateToken: 'Gg-theTokenOfTheGate-1234',
  notifyPath: 'Np-thePathOfAReceiver-9012',
  notifyKey: 'Nk-theKeyOfAReceiver-3456',
  gateSignature: 'Gs-theSignatureOfTheGate-5678',
} as const;
