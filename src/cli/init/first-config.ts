/** The first config: as short as possible, with the settings that people change next in comments. */
export function firstConfig({
  baseUrl,
  accessId,
  keyFile,
}: {
  readonly baseUrl: string;
  readonly accessId: string;
  /** Relative to the config. */
  readonly keyFile: string;
}): string {
  return `# The config of upwave. \`upwave config check\` finds errors, \`upwave plan\` shows what would happen.
# Every key: upwave help config-reference
service:
  baseUrl: ${JSON.stringify(baseUrl)}
  accessId: ${JSON.stringify(accessId)}
  # Only its owner may read this file.
  accessKeyFile: ${JSON.stringify(keyFile)}

# A Redis 7 or Valkey with an append-only file. \`upwave run --redis embedded\` starts one for a first try.
redis:
  url: redis://127.0.0.1:6379

rollouts:
  - name: production
    # Which collectors. Macs and containers are left out by default.
    # select:
    #   include: { category: "prod/*" }
    #   exclude: [{ osName: "Mac*" }, { name: "db-primary-*" }]
    # Which build, and how old it has to be.
    # target: { version: latest, minimumAge: 3d }
    # true: the plan waits for \`upwave approve\`.
    approval: true
    # When upgrades may start.
    # windows: [{ days: [mon, tue, wed, thu], from: "22:00", to: "05:00" }]
    # How many at a time.
    concurrency: 10
    # One collector of each kind first, then a tenth, then all others.
    waves:
      - { name: canary, size: 1 per stratum, soak: 30m, maxFailures: 0 }
      - { name: early, size: 10%, soak: 1h, maxFailures: 1% }
      - { name: rest, size: 100%, maxFailures: 2% }
`;
}
