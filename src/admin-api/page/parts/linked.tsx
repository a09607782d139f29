import { rolloutIdPattern } from '../../../rollout/model/rollout-id.ts';
import { linkTo } from './route.ts';

/** A text in which each rollout is a link, such as the reason why a build is held. */
export function Linked({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(rolloutIdPattern).map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          <a key={index} href={linkTo.rollout(part)}>
            {part}
          </a>
        ),
      )}
    </>
  );
}
