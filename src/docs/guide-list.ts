/** One guide: the name of its file and of its page, and what it answers. */
export interface ListedGuide {
  readonly name: string;
  readonly answers: string;
  /** Each name in its lists, such as that of a key, has an anchor and is found by the search. */
  readonly namesEntries?: true;
}

/** Every guide, in the order in which lists show them. Each is a file in `guides/`. */
export const guideGroups: readonly { readonly title: string; readonly guides: readonly ListedGuide[] }[] = [
  {
    title: 'Start here',
    guides: [
      { name: 'first-rollout', answers: 'How does a rollout go, with a bad build?' },
      { name: 'how-it-works', answers: 'Which parts are there, and what happens to a collector?' },
      { name: 'faq', answers: 'What do operators ask most?' },
    ],
  },
  {
    title: 'Run upwave',
    guides: [
      { name: 'install', answers: 'How do I install it: package, systemd, containers?' },
      { name: 'install-on-kubernetes', answers: 'How do I install it on Kubernetes?' },
      { name: 'size-it', answers: 'Which machines does it need, and how fast is it?' },
      { name: 'redis', answers: 'Which rights does it need at Redis? How do I back up?' },
      { name: 'security', answers: 'Who may do what? Where are secrets?' },
      { name: 'monitoring', answers: 'How do I use Prometheus and Grafana?' },
      { name: 'upgrade-upwave', answers: 'How do I upgrade it, and go back?' },
      { name: 'rotate-the-access-key', answers: 'How do I change the key while rollouts run?' },
      { name: 'behind-a-proxy', answers: 'How does it reach the service through a proxy?' },
      { name: 'disaster-drill', answers: 'How do I practise disasters?' },
      { name: 'uninstall', answers: 'How do I remove it?' },
    ],
  },
  {
    title: 'When something is wrong',
    guides: [
      { name: 'respond-to-a-hold', answers: 'A rollout is held. What now?' },
      { name: 'roll-back', answers: 'How do collectors get their old build back?' },
      { name: 'who-is-left-out', answers: 'Why is this collector not upgraded?' },
      { name: 'alerts', answers: 'What does this alert mean, and what do I do?' },
      { name: 'incidents', answers: 'What do I do where no alert fires?' },
    ],
  },
  {
    title: 'Configure rollouts',
    guides: [
      { name: 'write-a-policy', answers: 'How do I choose collectors, build, waves and windows?' },
      { name: 'policy-recipes', answers: 'Which policy can I copy?' },
      { name: 'review-policies-in-ci', answers: 'How do I check a policy before it runs?' },
      { name: 'rehearse', answers: 'What would a policy do to this fleet?' },
      { name: 'notifications', answers: 'Who gets which message?' },
      { name: 'reports', answers: 'Where are reports of ended rollouts?' },
      { name: 'reload', answers: 'When does a changed key take effect?' },
      { name: 'accounts', answers: 'How does one daemon work for several accounts?' },
    ],
  },
  {
    title: 'Reference',
    guides: [
      {
        name: 'config-reference',
        answers: 'What does each key of the config mean?',
        namesEntries: true,
      },
      { name: 'commands', answers: 'Which commands are there?' },
      { name: 'http-api', answers: 'What does the daemon serve?' },
      { name: 'events', answers: 'Which events are there, and what is in them?' },
      { name: 'metrics', answers: 'Which metrics are there?', namesEntries: true },
    ],
  },
];
