import { type GuideSection, guideOfProblem } from '../../../rollout/messages/guides.ts';
import { isStale, policies } from '../parts/live.ts';
import { WhatToDo } from '../parts/what-to-do.tsx';

/** Problems that keep the daemon from working, or from reporting. */
export function DaemonProblems() {
  if (policies.value === undefined) return null;
  const { notReady, configProblem, configDifference, notificationProblems = [], reports } = policies.value;
  const problems: readonly { readonly words: string; readonly section?: GuideSection }[] = [
    // During an outage the banner of the page says so.
    ...(notReady === undefined || isStale.value ? [] : [{ words: `The daemon cannot work. ${notReady}` }]),
    ...(configProblem === undefined
      ? []
      : [
          {
            words: `The config file has errors. The daemon uses the last valid config. ${configProblem}`,
            section: guideOfProblem.configProblem,
          },
        ]),
    ...(configDifference === undefined
      ? []
      : [{ words: `${configDifference}.`, section: guideOfProblem.configDifference }]),
    ...notificationProblems.map((words) => ({
      words: `Notifications fail: ${words}`,
      section: guideOfProblem.notificationProblems,
    })),
    ...(reports?.problem === undefined
      ? []
      : [{ words: `No report is written: ${reports.problem}`, section: guideOfProblem.reports }]),
  ];
  return (
    <>
      {problems.map(({ words, section }) => (
        <div key={words} class="note bad advice">
          <p role="alert">{words}</p>
          <WhatToDo section={section} about={words} />
        </div>
      ))}
    </>
  );
}
