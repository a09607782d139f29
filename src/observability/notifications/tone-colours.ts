import type { NoticeTone } from '../../rollout/messages/notices.ts';

/** Colours of a chat's bar: the light ones of the web UI. */
export const toneColours: Readonly<Record<NoticeTone, string>> = {
  bad: '#b3261e',
  late: '#855600',
  good: '#176b3a',
  busy: '#1769b5',
};

/** Styles of a container in an adaptive card. */
export const cardStyles: Readonly<Record<NoticeTone, string>> = {
  bad: 'attention',
  late: 'warning',
  good: 'good',
  busy: 'accent',
};
