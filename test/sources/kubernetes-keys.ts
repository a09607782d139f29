/** Keys of an object, each with the keys below it; null: a value, a list of values, or a map of any keys. */
interface Keys {
  readonly [key: string]: Keys | null;
}

/** These keys with values, and some with keys of their own. */
function keys(names: string, deeper: Keys = {}): Keys {
  return { ...Object.fromEntries(names.split(' ').map((name) => [name, null])), ...deeper };
}

const selector = keys('matchLabels', { matchExpressions: keys('key operator values') });
const probe = keys('periodSeconds timeoutSeconds failureThreshold', { httpGet: keys('path port') });
const container = keys('name image args', {
  ...{ startupProbe: probe, livenessProbe: probe, readinessProbe: probe, ports: keys('name containerPort') },
  resources: { requests: keys('cpu memory'), limits: keys('cpu memory') },
  securityContext: keys('allowPrivilegeEscalation readOnlyRootFilesystem', { capabilities: keys('drop') }),
  volumeMounts: keys('name mountPath readOnly'),
});
const pod = keys('serviceAccountName automountServiceAccountToken terminationGracePeriodSeconds', {
  securityContext: keys('runAsNonRoot runAsUser runAsGroup fsGroup', { seccompProfile: keys('type') }),
  topologySpreadConstraints: keys('maxSkew topologyKey whenUnsatisfiable', { labelSelector: selector }),
  containers: container,
  volumes: keys('name', { configMap: keys('name'), secret: keys('secretName defaultMode') }),
});
const peer = { podSelector: selector, namespaceSelector: selector };
const ports = keys('protocol port');
const endpoint = keys('port path interval', {
  authorization: keys('type', { credentials: keys('name key') }),
});
const template = { metadata: keys('labels'), spec: pod };

/** The parts of the Kubernetes API that deploy/kubernetes uses, by version and kind. */
const objects: Readonly<Record<string, Keys>> = {
  'v1 Namespace': {},
  'v1 ServiceAccount': keys('automountServiceAccountToken'),
  'v1 Service': { spec: keys('selector', { ports: keys('name port targetPort') }) },
  'apps/v1 Deployment': {
    spec: keys('replicas', {
      ...{ selector, template },
      strategy: keys('type', { rollingUpdate: keys('maxSurge maxUnavailable') }),
    }),
  },
  'policy/v1 PodDisruptionBudget': { spec: keys('minAvailable', { selector }) },
  'networking.k8s.io/v1 NetworkPolicy': {
    spec: keys('policyTypes', {
      ...{ podSelector: selector, ingress: { from: peer, ports }, egress: { to: peer, ports } },
    }),
  },
  'monitoring.coreos.com/v1 ServiceMonitor': { spec: keys('jobLabel', { selector, endpoints: endpoint }) },
  'monitoring.coreos.com/v1 PrometheusRule': {
    spec: { groups: keys('name', { rules: keys('alert record expr for labels annotations') }) },
  },
  'kustomize.config.k8s.io/v1beta1 Kustomization': keys('namespace resources', {
    labels: keys('pairs includeSelectors'),
    configMapGenerator: keys('name files'),
    images: keys('name newName newTag'),
  }),
};

/** Keys of an object that are not known there: slips of spelling or place, which the API lets pass as it judges values alone. */
export function unknownKeys(object: Readonly<Record<string, unknown>>): string[] {
  const kind = [object['apiVersion'], object['kind']].join(' ');
  const known = objects[kind];
  if (known === undefined) return [kind];
  return unknownIn(object, { ...known, ...keys('apiVersion kind'), metadata: keys('name labels') });
}

function unknownIn(value: unknown, known: Keys, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => unknownIn(each, known, path));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    const deeper = known[key];
    if (deeper === undefined) return [`${path}${key}`];
    return deeper === null ? [] : unknownIn(below, deeper, `${path}${key}.`);
  });
}
