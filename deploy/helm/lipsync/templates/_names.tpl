{{- define "lipsync.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Leaves room for the longest suffix of a component's name. */}}
{{- define "lipsync.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "lipsync.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "lipsync.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select all objects of the release. */}}
{{- define "lipsync.releaseSelector" -}}
app.kubernetes.io/name: {{ include "lipsync.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels that never change for a component. Takes root, component and, for GPU workers, pool. */}}
{{- define "lipsync.selector" -}}
{{ include "lipsync.releaseSelector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- with .pool }}
lipsync/pool: {{ . }}
{{- end }}
{{- end -}}

{{- define "lipsync.labels" -}}
{{ include "lipsync.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: lipsync
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Takes root and image {repository, digest}. A digest takes precedence over the tag. */}}
{{- define "lipsync.image" -}}
{{- with .root.Values.image.prefix }}{{ . | trimSuffix "/" }}/{{ end -}}
{{- .image.repository -}}
{{- if .image.digest -}}@{{ .image.digest }}
{{- else -}}:{{ default .root.Chart.AppVersion .root.Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* Number of proxies in front of the API. The ingress is one; without any, callers could forge X-Forwarded-For. */}}
{{- define "lipsync.trustedProxyHops" -}}
{{- if kindIs "invalid" .Values.api.trustedProxyHops -}}{{- ternary 1 0 .Values.ingress.enabled -}}
{{- else -}}{{- .Values.api.trustedProxyHops -}}
{{- end -}}
{{- end -}}

{{/*
The pools of GPU workers: each entry merged over the defaults. A YAML map with the key `pools`. `flavour`, the name of
`flavor` before 1.1, is honored until 2.0.
*/}}
{{- define "lipsync.pools" -}}
{{- $pools := list -}}
{{- $names := list -}}
{{- range .Values.engines -}}
{{- $pool := mergeOverwrite (deepCopy $.Values.gpuWorker) (deepCopy .) -}}
{{- if has $pool.name $names -}}{{- fail (printf "engines: two pools are named %s" $pool.name) -}}{{- end -}}
{{- $names = append $names $pool.name -}}
{{- $_ := set $pool "flavor" (coalesce .flavor .flavour $.Values.gpuWorker.flavour $.Values.gpuWorker.flavor) -}}
{{- $pools = append $pools $pool -}}
{{- end -}}
{{- dict "pools" $pools | toYaml -}}
{{- end -}}

{{/*
Engines that the API accepts while they have no worker: every pool that serves one may be at zero pods, because it is
scaled to zero or because its only pod ends before its successor starts.
*/}}
{{- define "lipsync.enginesOnDemand" -}}
{{- $onDemand := list -}}
{{- $steady := list -}}
{{- range (include "lipsync.pools" . | fromYaml).pools -}}
{{- $least := ternary (int .scale.min) (int .replicas) $.Values.keda.enabled -}}
{{- if or (eq $least 0) (and (eq $least 1) (eq (int .maxSurge) 0)) -}}
{{- $onDemand = concat $onDemand .serves -}}
{{- else -}}
{{- $steady = concat $steady .serves -}}
{{- end -}}
{{- end -}}
{{- $engines := list -}}
{{- range uniq $onDemand -}}
{{- if not (has . $steady) -}}{{- $engines = append $engines . -}}{{- end -}}
{{- end -}}
{{- sortAlpha $engines | join "," -}}
{{- end -}}
