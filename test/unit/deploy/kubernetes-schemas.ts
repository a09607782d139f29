import { z } from 'zod';

/**
 * The parts of the Kubernetes API that deploy/kubernetes uses, kept by hand and strict: a key that is not here is a
 * mistake of spelling or place, which the API's own schemas let pass.
 */
const Labels = z.record(z.string(), z.string());
const Quantity = z.string().regex(/^\d+(\.\d+)?(m|[KMGT]i)?$/);
const Metadata = z.strictObject({ name: z.string().regex(/^[a-z0-9-]{1,63}$/), labels: Labels.optional() });
const Selector = z.strictObject({
  matchLabels: Labels.optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()),
      }),
    )
    .optional(),
});

const Probe = z.strictObject({
  httpGet: z.strictObject({ path: z.enum(['/healthz', '/readyz']), port: z.string() }),
  periodSeconds: z.int().positive(),
  timeoutSeconds: z.int().positive().optional(),
  failureThreshold: z.int().positive().optional(),
});
const Resources = z.strictObject({ cpu: Quantity.optional(), memory: Quantity.optional() });
const Container = z.strictObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })),
  startupProbe: Probe,
  livenessProbe: Probe,
  readinessProbe: Probe,
  resources: z.strictObject({ requests: Resources, limits: Resources }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true) }),
  ),
});
const Volume = z.strictObject({
  name: z.string(),
  configMap: z.strictObject({ name: z.string() }).optional(),
  secret: z.strictObject({ secretName: z.string(), defaultMode: z.int().max(0o777) }).optional(),
});
const PodSpec = z.strictObject({
  serviceAccountName: z.string(),
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: z.int(),
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.int().positive(),
    runAsGroup: z.int().positive(),
    fsGroup: z.int().positive(),
    seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
  }),
  topologySpreadConstraints: z.array(
    z.strictObject({
      maxSkew: z.int(),
      topologyKey: z.string(),
      whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
      labelSelector: Selector,
    }),
  ),
  containers: z.tuple([Container]),
  volumes: z.array(Volume),
});

const Port = z.union([z.string(), z.int()]);
const Peer = z.strictObject({ podSelector: Selector.optional(), namespaceSelector: Selector.optional() });
const PolicyPort = z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port: Port });
const Rule = z.strictObject({
  alert: z.string().optional(),
  record: z.string().optional(),
  expr: z.string(),
  for: z.string().optional(),
  labels: Labels.optional(),
  annotations: Labels.optional(),
});

const kind = <Version extends string, Kind extends string>(apiVersion: Version, name: Kind) => ({
  apiVersion: z.literal(apiVersion),
  kind: z.literal(name),
  metadata: Metadata,
});

export const Deployment = z.strictObject({
  ...kind('apps/v1', 'Deployment'),
  spec: z.strictObject({
    replicas: z.int(),
    strategy: z.strictObject({
      type: z.literal('RollingUpdate'),
      rollingUpdate: z.strictObject({ maxSurge: z.int(), maxUnavailable: z.int() }),
    }),
    selector: Selector,
    template: z.strictObject({ metadata: z.strictObject({ labels: Labels }), spec: PodSpec }),
  }),
});

export const PrometheusRule = z.strictObject({
  ...kind('monitoring.coreos.com/v1', 'PrometheusRule'),
  spec: z.strictObject({
    groups: z.array(z.strictObject({ name: z.string(), rules: z.array(Rule) })),
  }),
});

export const ServiceMonitor = z.strictObject({
  ...kind('monitoring.coreos.com/v1', 'ServiceMonitor'),
  spec: z.strictObject({
    jobLabel: z.string(),
    selector: Selector,
    endpoints: z.array(
      z.strictObject({
        port: z.string(),
        path: z.string(),
        interval: z.string(),
        authorization: z.strictObject({
          type: z.literal('Bearer'),
          credentials: z.strictObject({ name: z.string(), key: z.string() }),
        }),
      }),
    ),
  }),
});

/** Every object in the folder is one of these. */
export const KubernetesObject = z.discriminatedUnion('kind', [
  Deployment,
  PrometheusRule,
  ServiceMonitor,
  z.strictObject(kind('v1', 'Namespace')),
  z.strictObject({ ...kind('v1', 'ServiceAccount'), automountServiceAccountToken: z.literal(false) }),
  z.strictObject({
    ...kind('v1', 'Service'),
    spec: z.strictObject({
      selector: Labels,
      ports: z.array(z.strictObject({ name: z.string(), port: z.int(), targetPort: Port })),
    }),
  }),
  z.strictObject({
    ...kind('policy/v1', 'PodDisruptionBudget'),
    spec: z.strictObject({ minAvailable: z.int().positive(), selector: Selector }),
  }),
  z.strictObject({
    ...kind('networking.k8s.io/v1', 'NetworkPolicy'),
    spec: z.strictObject({
      podSelector: Selector,
      policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
      ingress: z.array(z.strictObject({ from: z.array(Peer), ports: z.array(PolicyPort) })),
      egress: z.array(z.strictObject({ to: z.array(Peer).optional(), ports: z.array(PolicyPort) })),
    }),
  }),
]);

export const Kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: z.string(),
  labels: z.array(z.strictObject({ pairs: Labels, includeSelectors: z.boolean() })),
  resources: z.array(z.string()),
  configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })),
});
