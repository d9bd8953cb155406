{{- define "lipsync.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Leaves room for the longest suffix that a component's name gets. */}}
{{- define "lipsync.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "lipsync.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "lipsync.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What all objects of the release are chosen by. */}}
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

{{/* Takes root and image {repository, digest}. A digest says more than a tag. */}}
{{- define "lipsync.image" -}}
{{- with .root.Values.image.prefix }}{{ . | trimSuffix "/" }}/{{ end -}}
{{- .image.repository -}}
{{- if .image.digest -}}@{{ .image.digest }}
{{- else -}}:{{ default .root.Chart.AppVersion .root.Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* Proxies in front of the API. The ingress is one; where nothing is, callers write X-Forwarded-For themselves. */}}
{{- define "lipsync.trustedProxyHops" -}}
{{- if kindIs "invalid" .Values.api.trustedProxyHops -}}{{- ternary 1 0 .Values.ingress.enabled -}}
{{- else -}}{{- .Values.api.trustedProxyHops -}}
{{- end -}}
{{- end -}}

{{/* The pools of GPU workers as they are meant: each entry over the defaults. A YAML map with the key `pools`. */}}
{{- define "lipsync.pools" -}}
{{- $pools := list -}}
{{- $names := list -}}
{{- range .Values.engines -}}
{{- $pool := mergeOverwrite (deepCopy $.Values.gpuWorker) (deepCopy .) -}}
{{- if has $pool.name $names -}}{{- fail (printf "engines: two pools are named %s" $pool.name) -}}{{- end -}}
{{- $names = append $names $pool.name -}}
{{- $pools = append $pools $pool -}}
{{- end -}}
{{- dict "pools" $pools | toYaml -}}
{{- end -}}

{{/*
Engines that the API accepts while no worker is there: every pool that serves one may be at zero, because it is scaled
there or because its only pod goes before its successor comes.
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
