import { toOneLine } from '../../base/safe-text.ts';
import { docsUrl } from '../../docs/docs-paths.ts';
import { guideOfIncident } from '../../rollout/messages/guides.ts';
import { type NoticeText, noticeText } from '../../rollout/messages/notices.ts';
import type { Notice } from '../../rollout/model/notice.ts';

/** What every message shows beside its notice. */
export interface NoticeOrigin {
  /** The name of this installation; undefined: no name. */
  readonly installation: string | undefined;
  /** The URL of the page for people; undefined: messages have no link. */
  readonly publicUrl: string | undefined;
}

/** A notice as text, for all kinds of receivers. Foreign names and reasons take one line each. */
export interface WrittenNotice extends NoticeText {
  readonly notice: Notice;
  readonly installation: string | undefined;
  /** The link to the rollout on the page. */
  readonly link: string | undefined;
  /** The link to the section of the guides with what to do; undefined for what is no incident, or over. */
  readonly guide: string | undefined;
}

const lineLengthMax = 1_000;

export function writeNotice(notice: Notice, { installation, publicUrl }: NoticeOrigin): WrittenNotice {
  const { title, cause, numbers, causes, commands } = noticeText(notice);
  const rollout = notice.figures?.rollout;
  const path = rollout === undefined ? '' : `#/rollouts/${encodeURIComponent(rollout)}`;
  const section = notice.phase === 'raised' ? guideOfIncident(notice.details) : undefined;
  const where = installation === undefined ? '' : `[${installation}] `;
  return {
    notice,
    installation,
    link: publicUrl === undefined ? undefined : `${publicUrl}/${path}`,
    guide:
      publicUrl === undefined || section === undefined
        ? undefined
        : `${publicUrl}${docsUrl(section.guide, section.anchor)}`,
    title: line(`${where}${title}`),
    cause: line(cause),
    numbers,
    causes: causes.map(line),
    commands,
  };
}

function line(text: string): string {
  return toOneLine(text).slice(0, lineLengthMax);
}
