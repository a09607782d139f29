import { docsUrl } from '../../../docs/docs-paths.ts';
import { type GuideSection, guideOfRollout } from '../../../rollout/messages/guides.ts';
import { needText } from '../../../rollout/messages/need-texts.ts';
import type { Rollout } from './call.ts';
import { Linked } from './linked.tsx';
import { clockText } from './time.tsx';

/** What a rollout needs, or does. */
export function Need({ rollout }: { readonly rollout: Rollout }) {
  return (
    <div class="advice">
      <p class="need">
        <Linked text={needText(rollout, clockText)} />
      </p>
      <WhatToDo section={guideOfRollout(rollout)} about={rollout.policy} />
    </div>
  );
}

/** A link to the section of a guide that has more than fits here. */
export function WhatToDo(parts: { readonly section: GuideSection | undefined; readonly about: string }) {
  if (parts.section === undefined) return null;
  const { guide, anchor } = parts.section;
  return (
    <p class="what-to-do">
      <a href={docsUrl(guide, anchor)} aria-label={`What to do: ${parts.about}`}>
        What to do
      </a>
    </p>
  );
}
