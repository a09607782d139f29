import type { ComponentProps } from 'preact';
import { me } from './live.ts';

/** A button that changes something: only operators see it. */
export function ActButton(props: Omit<ComponentProps<'button'>, 'type'>) {
  return me.value.role === 'operator' ? <button type="button" {...props} /> : null;
}
