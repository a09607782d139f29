import { cutText, toOneLine } from '../../base/safe-text.ts';
import { docsUrl } from '../../docs/docs-paths.ts';
import { guideOfIncident } from '../../rollout/messages/guides.ts';
import { type NoticeText, noticeText } from '../../rollout/messages/notices.ts';
import type { Notice, NoticeAction } from '../../rollout/model/notice.ts';

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
  /** Links to dialogs of the page, the usual one first. */
  readonly buttons: readonly NoticeButton[];
}

/** Opens a dialog of the page, which asks before it changes anything. */
export interface NoticeButton {
  readonly label: string;
  readonly href: string;
  /** Whether it ends the rollout. */
  readonly isStopping: boolean;
}

const lineLengthMax = 1_000;

export function writeNotice(notice: Notice, { installation, publicUrl }: NoticeOrigin): WrittenNotice {
  const { tone, title, cause, numbers, figures, causes, commands } = noticeText(notice);
  const rollout = notice.figures?.rollout;
  const path = rollout === undefined ? '' : `#/rollouts/${encodeURIComponent(rollout)}`;
  const link = publicUrl === undefined ? undefined : `${publicUrl}/${path}`;
  const section = notice.phase === 'raised' ? guideOfIncident(notice.details) : undefined;
  const where = installation === undefined ? '' : `[${installation}] `;
  return {
    notice,
    installation,
    link,
    guide:
      publicUrl === undefined || section === undefined
        ? undefined
        : `${publicUrl}${docsUrl(section.guide, section.anchor)}`,
    buttons:
      link === undefined
        ? []
        : (notice.actions ?? []).map((action) =>
            buttonOf(action, rollout === undefined ? `${link}#/` : link),
          ),
    tone,
    title: line(`${where}${title}`),
    cause: line(cause),
    numbers,
    figures,
    causes: causes.map(line),
    commands,
  };
}

/** The page, and the guide. */
export function linksOf({ link, guide }: Pick<WrittenNotice, 'link' | 'guide'>) {
  return [
    ...(link === undefined ? [] : [{ href: link, text: 'Open the page' }]),
    ...(guide === undefined ? [] : [{ href: guide, text: 'What to do' }]),
  ];
}

/** The page's route of a dialog is `?do=resume`, or `?do=release&what=19.536-4`, below a rollout or the overview. */
function buttonOf(action: NoticeAction, link: string): NoticeButton {
  const { verb } = action;
  const what = 'subject' in action ? action.subject : undefined;
  const query = new URLSearchParams({ do: verb, ...(what !== undefined && { what }) });
  const words = verb === 'rollback' ? 'roll back' : verb;
  return {
    label: line(what === undefined ? words : `${words} ${what}`),
    href: `${link}?${query.toString()}`,
    isStopping: verb === 'abort' || verb === 'rollback',
  };
}

function line(text: string): string {
  return cutText(toOneLine(text), lineLengthMax);
}
