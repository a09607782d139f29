import { guideGroups, type ListedGuide } from '../../docs/guide-list.ts';
import { guideText, type TextPlace } from '../../docs/guide-text.ts';
import { findSection, type Guide, loadGuide, loadGuides, type Section } from '../../docs/load-guides.ts';

/** A guide or a section of it, by words such as `redis`, `redis back-up-redis`, `alerts#UpwaveNoProgress` or `UpwaveNoProgress`. */
export function findHelpTopic(words: readonly string[], style: Pick<TextPlace, 'columns' | 'paint'>) {
  const guides = loadGuides();
  const found = findTopic(words, guides);
  if (found === undefined) return undefined;
  return { text: () => guideText(found.sections, { ...style, guide: found.guide, guides }) };
}

/** What a name alone asks for: the guides, and the alerts, which their guide lists. */
export function namedTopics(): readonly ListedGuide[] {
  const guides = guideGroups.flatMap((group) => group.guides);
  const alerts = guides.filter(({ name }) => name === 'alerts').flatMap((guide) => loadGuide(guide).sections);
  return [
    ...guides,
    ...alerts
      .filter(({ title }) => isAlert(title))
      .map(({ title }) => ({ name: title, answers: 'an alert' })),
  ];
}

/** The sections of a guide as words that ask for them: `redis back-up-redis`. Empty where there is no such guide. */
export function sectionTopics(guide: string): readonly string[] {
  const found = loadGuides().find(({ name }) => name === guide);
  return (found?.sections ?? []).slice(1).map(({ anchor }) => `${guide} ${anchor}`);
}

function isAlert(name: string): boolean {
  return /^upwave[a-z]/i.test(name);
}

interface Topic {
  readonly guide: Guide;
  readonly sections: readonly Section[];
}

function findTopic(words: readonly string[], guides: readonly Guide[]): Topic | undefined {
  const [name = '', anchor, ...others] = words.flatMap((word) => word.split('#'));
  if (others.length > 0) return undefined;
  const guide = guides.find((each) => each.name === name);
  if (guide === undefined) return anchor === undefined ? alertTopic(name, guides) : undefined;
  if (anchor === undefined) return { guide, sections: guide.sections };
  return topicOf(guide, anchor);
}

/** Only alerts are known by their name alone: other headings are short words. */
function alertTopic(name: string, guides: readonly Guide[]): Topic | undefined {
  const guide = guides.find((each) => each.name === 'alerts');
  return guide !== undefined && isAlert(name) ? topicOf(guide, name) : undefined;
}

/** A section with the deeper ones below it. */
function topicOf(guide: Guide, anchor: string): Topic | undefined {
  const section = findSection(guide, anchor);
  if (section === undefined) return undefined;
  const after = guide.sections.slice(guide.sections.indexOf(section) + 1);
  const end = after.findIndex(({ depth }) => depth <= section.depth);
  return { guide, sections: [section, ...(end < 0 ? after : after.slice(0, end))] };
}
