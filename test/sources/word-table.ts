/** One word for one thing: what is written, and what is not. In texts that people read and in comments; some of it in identifiers, too. */
export const wordTable: readonly {
  readonly use: string;
  readonly not: RegExp;
  /** Not yet in comments, where these words also have their plain meaning. */
  readonly textsOnly?: true;
}[] = [
  {
    use: 'poll, check',
    not: /\b(?:the|a|last|next|single|every) looks?\b|\blook(?:s|ed|ing)? (?:again|next)\b/,
  },
  { use: 'discovery, scan', not: /\blook(?:s|ed|ing)? for work\b/ },
  { use: 'inventory row, observation', not: /\brow that tells\b|\bnews\b/ },
  { use: 'verify, verification', not: /\bproofs?\b|\bnot told\b/ },
  { use: 'outage; throttled', not: /\bstandstill\b|\bstands? still\b|\bstood still\b|\btroubles?\b/ },
  {
    use: 'event, message, report',
    not: /\b(?:tells?|told|says?|said)\b|\b(?:the|first|operator's|an?) word\b/,
    textsOnly: true,
  },
  { use: 'background task', not: /\berrands?\b/ },
  { use: 'wake-up, wake', not: /\bbells?\b|(?<!deployment[ -])\brings?\b/i },
  { use: 'outlier stratum', not: /\bstands? out\b|\bculprits?\b/ },
  { use: 'repair', not: /\bmend(?:s|ed|ing)?\b/ },
  { use: 'reschedule, bring forward', not: /\bhasten(?:s|ed)?\b/ },
  { use: 'late joiner', not: /\bwho joined\b|\btak(?:e|es|en) in\b/ },
  { use: 'in flight, running', not: /\bwhat (?:still )?runs\b|\bwho runs\b|\bon (?:its|their) way\b/ },
  { use: 'remaining', not: /\bwhat is left\b|\bthe rest of them\b/ },
  { use: 'unreadable record', not: /\bcan't be read\b/ },
  { use: 'eligible', not: /\b(?:is|are) fit\b|\bfit for\b/ },
  { use: 'data loss', not: /\bemptied\b|\bforgotten\b|\bforgets?\b/, textsOnly: true },
  { use: 'instance id', not: /\bbirth\b/ },
  { use: 'in doubt', not: /\bdoubts\b|\bdoubted\b|\bunsettled\b|(?<!in )\bdoubt\b/, textsOnly: true },
  { use: 'failed poll; failed', not: /\bmiss(?:es|ed)\b/, textsOnly: true },
  { use: 'transient error', not: /\bpassing (?:error|fault|cause)s?\b/ },
  { use: 'grace period, deadline', not: /\bpatien(?:ce|t)\b/ },
  { use: 'lone surrogate', not: /\bhalf of a character\b/ },
  { use: 'acknowledged failures', not: /\bspeaks? against\b/ },
  { use: 'starts, changes', not: /\bstirs?\b|\bbegun\b|\banew\b|\bgets? on with\b|\bspeaks\b|\bgoes home\b/ },
  { use: 'immediately; at the same time', not: /\bat once\b/, textsOnly: true },
  { use: 'error', not: /\bmistakes?\b/, textsOnly: true },
  { use: 'case-insensitive', not: /\bin any case\b/, textsOnly: true },
  { use: 'available', not: /\bon offer\b/, textsOnly: true },
  { use: 'automatically', not: /\bby (?:itself|themselves)\b/, textsOnly: true },
  { use: '5%', not: /\d %/, textsOnly: true },
  { use: 'timeout, lockfile', not: /\btime-outs?\b|\block-files?\b/, textsOnly: true },
];

/** In addition, in the files that operators copy and run: configs, units, images and alerts. */
export const fileWordTable: typeof wordTable = [
  ...wordTable,
  { use: 'reject, deny, hold', not: /\brefus(?:e|es|ed|ing|al)\b/ },
  { use: 'operator, user', not: /\b(?:persons?|people|somebody|someone|nobody)\b/ },
  { use: 'alert, list page, HTML response, web UI', not: /(?<!\b[Ll]ist )(?<!`)\bpages?\b/ },
  { use: 'create request', not: /\b(?:a|the|each|no|every) create\b(?! request)|\bcreates\b/ },
  { use: 'only', not: /\balone\b/ },
  { use: 'in addition to, next to', not: /\bbeside\b/ },
  { use: 'its own, a dedicated', not: /\bof (?:its|their|your|our|his) own\b|\bof yours\b/ },
  { use: 'continue', not: /\b(?:goes|go|going|went) on\b/ },
  { use: 'succeed; healthy', not: /\b(?:goes|go|went|is|are) well\b/ },
  { use: 'remaining; name the thing', not: /\bthe (?:rest|others)\b/ },
  { use: 'that', not: /(?<![,;:]|\b(?:in|of|by|from|with|for|on|at|to|shows?|after|into|through)) which\b/ },
];

/** The same in identifiers, split into their words: `lookEveryMs` has `look`. */
export const identifierWords: readonly { readonly use: string; readonly not: RegExp }[] = [
  { use: 'report', not: /\btell(?:s|ing)?\b/ },
  { use: 'wake', not: /\b(?:bell|ring|rings)\b/ },
  { use: 'poll', not: /\blook(?:s|ed|ing)?\b/ },
  { use: 'status', not: /\bstandings?\b/ },
  { use: 'background task', not: /\berrands?\b/ },
  { use: 'repair', not: /\bmend(?:s|ed|ing)?\b/ },
  { use: 'outlier', not: /\bculprits?\b/ },
  { use: 'instance', not: /\bbirths?\b/ },
  { use: 'change', not: /\bstirs?\b/ },
];
