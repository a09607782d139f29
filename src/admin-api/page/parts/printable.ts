import { options } from 'preact';
import { toPrintable } from '../../../base/safe-text.ts';

/**
 * Names of collectors and messages come from machines. The framework turns them into text nodes and attributes, never into
 * markup. This hook also removes characters that are invisible, or change the reading direction.
 */
export function showOnlyPrintable(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    // A text node has no type, and its text as props.
    const node: { type: unknown; props: unknown } = vnode;
    if (typeof node.props === 'string') node.props = toPrintable(node.props);
    else if (typeof node.type === 'string' && node.props !== null)
      escapeAttributes(node.props as Record<string, unknown>);
    before?.(vnode);
  };
}

function escapeAttributes(props: Record<string, unknown>): void {
  for (const name of ['title', 'aria-label', 'alt', 'placeholder', 'label', 'children']) {
    const value = props[name];
    if (typeof value === 'string') props[name] = toPrintable(value);
  }
}
