import { type AnswerOf, call } from './api.ts';
import { openDialog } from './dialog.ts';
import { make, named, showText } from './elements.ts';

/** Starts a rollout of a policy: of the plan that the dialog shows, or none (P15). */
export function askStart(policy: string, refresh: () => void): Promise<void> {
  const plan = make('p', { role: 'status' }, 'reading the fleet …');
  let planHash = '';
  return openDialog({
    label: `start ${policy}`,
    heading: ['Start a rollout of ', named(policy), '?'],
    isStopping: false,
    content: [plan],
    prepare: async () => {
      try {
        const preview = await call('previewStart', { params: { policy } });
        planHash = preview.planHash;
        showText(plan, planText(preview));
      } catch (error) {
        showText(plan, '');
        throw error;
      }
    },
    send: async (reason) => {
      await call('startPolicy', { params: { policy }, body: { reason, planHash } });
      refresh();
    },
  });
}

function planText({
  planHash,
  targetBuild,
  planned,
  waves,
  window,
  approval,
}: AnswerOf<'previewStart'>): string {
  const sizes = waves.map(({ name, size }) => `${name} ${size}`).join(', ');
  const closed = window.isOpen ? '' : `; now closed: ${window.reason}`;
  const then = approval ? '; the plan then waits for approval' : '';
  return `${planned} collectors to ${targetBuild} in plan ${planHash}: ${sizes}${closed}${then}`;
}
