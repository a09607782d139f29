import { exposeEverything } from '../support/exposed-metrics.ts';
import { textOf } from './documents.ts';
import { configJsonSchema } from './json-schema.ts';
import { messagePicture } from './message-picture.ts';
import { nightPicture } from './night-picture.ts';
import { noticeSamples } from './notice-samples.ts';
import { alertsGuide } from './references/alerts-reference.ts';
import { commandsReference } from './references/commands-reference.ts';
import { configReference } from './references/config-reference.ts';
import { eventsReference } from './references/events-reference.ts';
import { httpReference } from './references/http-reference.ts';
import { metricsReference } from './references/metrics-reference.ts';

/** Committed files which the code gives, wholly or between two marks, with the text that they have to have. */
export async function generatedFiles(): Promise<readonly { readonly path: string; readonly text: string }[]> {
  return [
    { path: 'config/upwave.schema.json', text: `${JSON.stringify(configJsonSchema(), null, 2)}\n` },
    { path: 'deploy/kubernetes/prometheus-operator/prometheusrule.yaml', text: prometheusRule() },
    {
      path: guide('alerts'),
      text: alertsGuide(textOf(guide('alerts')), textOf('deploy/prometheus/rules.yml')),
    },
    { path: 'src/docs/guides/pictures/night.svg', text: nightPicture() },
    { path: 'src/docs/guides/pictures/messages.svg', text: messagePicture() },
    guideWithPart('commands', commandsReference()),
    guideWithPart('config-reference', configReference()),
    guideWithPart('events', eventsReference()),
    guideWithPart('http-api', httpReference()),
    guideWithPart('metrics', metricsReference(await exposeEverything())),
    guideWithPart('notifications', noticeSamples()),
  ];
}

const guide = (name: string) => `src/docs/guides/${name}.md`;

function guideWithPart(name: string, part: string) {
  return { path: guide(name), text: withPart(guide(name), part) };
}

/** The rules as the Prometheus Operator takes them. */
function prometheusRule(): string {
  const rules = textOf('deploy/prometheus/rules.yml');
  const groups = rules.slice(rules.indexOf('groups:'));
  const head = `# Generated from deploy/prometheus/rules.yml: npm run generate
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: upwave
spec:
`;
  return head + groups.replaceAll(/^(?=.)/gm, '  ');
}

/** @throws when the document has no marks */
function withPart(path: string, part: string): string {
  const marks = /(<!-- generated[^>]*-->\n)[\s\S]*?(\n<!-- end of the generated part -->)/;
  const text = textOf(path);
  if (!marks.test(text)) throw new Error(`${path} has no marks for the generated part`);
  return text.replace(marks, (_all, begin: string, end: string) => `${begin}\n${part}\n${end}`);
}
