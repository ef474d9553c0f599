{{- define "nativirt.labels" -}}
app.kubernetes.io/name: nativirt
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "nativirt.image" -}}
{{ .root.Values.image.registry }}/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* Of all three pods. */}}
{{- define "nativirt.pod" -}}
priorityClassName: kubevirt-cluster-critical
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- end }}

{{/* Of what needs no rights on its node. */}}
{{- define "nativirt.restrictedPod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "nativirt.restrictedContainer" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* Replicas on different nodes and zones, where there are such. */}}
{{- define "nativirt.spread" -}}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: { app.kubernetes.io/component: {{ . }} }
      - weight: 50
        podAffinityTerm:
          topologyKey: topology.kubernetes.io/zone
          labelSelector:
            matchLabels: { app.kubernetes.io/component: {{ . }} }
{{- end }}

{{- define "nativirt.extraArgs" -}}
{{- range . }}
- {{ quote . }}
{{- end }}
{{- end }}
