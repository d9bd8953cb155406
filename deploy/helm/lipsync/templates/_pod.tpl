{{/*
What all pods have in common, except containers and volumes. Takes root, component, pool, and workload: the component's
part of the values. No pod uses the Kubernetes API, so none gets a token.
*/}}
{{- define "lipsync.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .workload.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .workload.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .workload.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .workload.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .workload.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .workload.spread }}
topologySpreadConstraints:
  {{- range $key, $unsatisfiable := dict "topology.kubernetes.io/zone" .workload.spread.zone "kubernetes.io/hostname" .workload.spread.host }}
  - topologyKey: {{ $key }}
    maxSkew: 1
    whenUnsatisfiable: {{ $unsatisfiable }}
    labelSelector:
      matchLabels:
        {{- include "lipsync.selector" $ | nindent 8 }}
    # Each revision is spread separately; otherwise the pods of the old one would decide where the new ones go.
    matchLabelKeys:
      - pod-template-hash
  {{- end }}
{{- end }}
{{- end -}}

{{/* Without the chart's own version: a new chart version alone must not restart pods and reload their packs. */}}
{{- define "lipsync.podMetadata" -}}
labels:
  {{- include "lipsync.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/part-of: lipsync
  {{- with .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .workload.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .workload.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "lipsync.caBundle.mount" -}}
{{- if .Values.caBundle.configMap }}
- name: ca-bundle
  mountPath: /etc/ca-bundle
  readOnly: true
{{- end }}
{{- end -}}

{{- define "lipsync.caBundle.volume" -}}
{{- with .Values.caBundle.configMap }}
- name: ca-bundle
  configMap:
    name: {{ . }}
{{- end }}
{{- end -}}

{{- define "lipsync.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop:
      - ALL
{{- end -}}

{{/*
Startup: the process listens. Liveness: it reports that it makes progress (packs load within their limit, the consumer
fetches, loops turn); the state of other services is no reason to restart it. Readiness: it can do its work now, and is
not shutting down.
*/}}
{{- define "lipsync.probes" -}}
startupProbe:
  httpGet:
    path: /healthz
    port: health
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}
