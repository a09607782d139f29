import type { ComponentProps } from 'preact';
import { me } from './live.ts';

/** A button that changes something: only operators see it. */
export function ActButton(props: Omit<ComponentProps<'button'>, 'type'>) {
  return mayAct() ? <button type="button" {...props} /> : null;
}

/** Whether this person sees buttons that change something. */
export function mayAct(): boolean {
  return me.value.role === 'operator';
}
