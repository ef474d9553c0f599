/** A pod that makes use of many fields; see kubectl-bodies.ts. */
import type { KubectlBody } from './kubectl-bodies.js';

export const podBody: KubectlBody = {
  command: 'debug --copy-to',
  protobuf:
    'azhzAAoJCgJ2MRIDUG9kEp8IChsKBGNvcHkSABoHZGVmYXVsdCIAKgAyADgAQgAS6gcKFgoBZRIREg8KBk1lbW9yeRIFCgMxR2kKCgoCZTISBBICCgAKDQoBaBIICgYKAi9oEgAKDgoDcHZjEgdSBQoBeBABChkKAXMSFDISCgF4EgkKAWESAWIYgAIYACABCg4KAmNtEgiaAQUKAwoBeAoiCgFkEh2CARoKGAoBcBITCgASD21ldGFkYXRhLmxhYmVscwojCgJwchId0gEaCg4iDAoAEJAcGgV0b2tlbgoIGgYKBAoCeXkKRwoDZXBoEkDqAT0KOwoQCgASABoAIgAqADIAOABCABInCg1SZWFkV3JpdGVPbmNlEhISEAoHc3RvcmFnZRIFCgMxR2kaACoAChUKA2NzaRIO4gELCgFkIgYKAWESAWIKEQoDbmZzEgo6CAoBcxIBLxgAEsUCCgFjEgFpGgFhIgFiIgAqAi93Mg4KAXcQUBhQIgNUQ1AqADoGCgFBEgFiOhoKAUISABoTChEKABINbWV0YWRhdGEubmFtZTodCgFDEgAaFhIUCgASCmxpbWl0cy5jcHUaBAoCMW06EwoBRBIAGgwiCgoDCgFzEgFrGABCUwoKCgNjcHUSAwoBMhINCgNjcHUSBgoEMTAwbRIeChdkZXZpY2VzLmt1YmV2aXJ0LmlvL2t2bRIDCgExEg8KBm1lbW9yeRIFCgMxR2kaBQoBchIASh8KAWUQARoCL2UiAXMqD0hvc3RUb0NvbnRhaW5lcjIAYgYSBCICCAFqAHIGQWx3YXlzehgKEAoJTkVUX0FETUlOEgNBTEwQATAAOACAAQGIAQCQAQGaAQoKAVASBQoDCgFjogEAqgENCgNwdmMSBi9kZXYveBIwCgNkYmcSAXgqAEIAagByAHoOCgwKClNZU19QVFJBQ0WAAQCIAQCQAQCiAQRGaWxlGgZBbHdheXMgACgFMgROb25lOgcKAXgSAnl5QgFzSgBSAFgBYABoAHIyCgoKABIAGgAiAnMwEAAYACABIAIoazoICgNhLmISATFSEAoOUnVudGltZURlZmF1bHR6AwoBcIIBAWiKAQNzdWKSASwKEAoOCgwKCgoBYRICSW4aAWIaGBIWCAESEgoNEgsKAWESBkV4aXN0cxoBepoBBXNjaGVkogEjCgFpEgFpKgBCAGoAcgCAAQCIAQCQAQCiAQDCAQZBbHdheXOoAQCyARoKAWsSBkV4aXN0cxoAIglOb0V4ZWN1dGUoALoBDwoHMS4yLjMuNBIBYRIBYsIBAnBj0gEYCgcxLjEuMS4xEgFhGgoKBW5kb3RzEgE12AEB4gEFCgNhL2KKAh4IARIBehoNRG9Ob3RTY2hlZHVsZSIICgYKAWESAWIaEwoAGgAiACoAMgBKAFoAcgCIAQAaACIA',
  object: {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'copy', namespace: 'default' },
    spec: {
      volumes: [
        { name: 'e', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
        { name: 'e2', emptyDir: {} },
        { name: 'h', hostPath: { path: '/h', type: '' } },
        { name: 'pvc', persistentVolumeClaim: { claimName: 'x', readOnly: true } },
        {
          name: 's',
          secret: {
            secretName: 'x',
            items: [{ key: 'a', path: 'b', mode: 256 }],
            defaultMode: 0,
            optional: true,
          },
        },
        { name: 'cm', configMap: { name: 'x' } },
        { name: 'd', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        {
          name: 'pr',
          projected: {
            sources: [
              { serviceAccountToken: { expirationSeconds: 3600, path: 'token' } },
              { configMap: { name: 'yy' } },
            ],
          },
        },
        {
          name: 'eph',
          ephemeral: {
            volumeClaimTemplate: {
              metadata: {},
              spec: {
                accessModes: ['ReadWriteOnce'],
                resources: { requests: { storage: '1Gi' } },
                storageClassName: '',
              },
            },
          },
        },
        { name: 'csi', csi: { driver: 'd', volumeAttributes: { a: 'b' } } },
        { name: 'nfs', nfs: { server: 's', path: '/' } },
      ],
      initContainers: [{ name: 'i', image: 'i', resources: {}, restartPolicy: 'Always' }],
      containers: [
        {
          name: 'c',
          image: 'i',
          command: ['a'],
          args: ['b', ''],
          workingDir: '/w',
          ports: [{ name: 'w', hostPort: 80, containerPort: 80, protocol: 'TCP' }],
          envFrom: [{ prefix: 'P', configMapRef: { name: 'c' } }],
          env: [
            { name: 'A', value: 'b' },
            { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
            { name: 'D', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } },
          ],
          resources: {
            limits: { cpu: '2' },
            requests: { cpu: '100m', 'devices.kubevirt.io/kvm': '1', memory: '1Gi' },
            claims: [{ name: 'r' }],
          },
          volumeMounts: [
            { name: 'e', readOnly: true, mountPath: '/e', subPath: 's', mountPropagation: 'HostToContainer' },
          ],
          volumeDevices: [{ name: 'pvc', devicePath: '/dev/x' }],
          lifecycle: { preStop: { sleep: { seconds: 1 } } },
          imagePullPolicy: 'Always',
          securityContext: {
            capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
            privileged: true,
            readOnlyRootFilesystem: false,
            allowPrivilegeEscalation: false,
          },
          stdin: true,
          tty: true,
        },
        {
          name: 'dbg',
          image: 'x',
          resources: {},
          terminationMessagePolicy: 'File',
          securityContext: { capabilities: { add: ['SYS_PTRACE'] } },
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 0,
      activeDeadlineSeconds: 5,
      dnsPolicy: 'None',
      nodeSelector: { x: 'yy' },
      serviceAccountName: 's',
      automountServiceAccountToken: false,
      hostNetwork: true,
      shareProcessNamespace: true,
      securityContext: {
        seLinuxOptions: { level: 's0' },
        runAsUser: 0,
        runAsNonRoot: false,
        supplementalGroups: [1, 2],
        fsGroup: 107,
        sysctls: [{ name: 'a.b', value: '1' }],
        seccompProfile: { type: 'RuntimeDefault' },
      },
      imagePullSecrets: [{ name: 'p' }],
      hostname: 'h',
      subdomain: 'sub',
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
          },
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              podAffinityTerm: {
                labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
                topologyKey: 'z',
              },
            },
          ],
        },
      },
      schedulerName: 'sched',
      tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }],
      hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }],
      priorityClassName: 'pc',
      dnsConfig: { nameservers: ['1.1.1.1'], searches: ['a'], options: [{ name: 'ndots', value: '5' }] },
      readinessGates: [{ conditionType: 'a/b' }],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { a: 'b' } },
        },
      ],
    },
    status: {},
  },
};
