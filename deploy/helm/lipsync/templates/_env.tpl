{{/* One variable from the secret. Takes root, name and key, a key of secrets.keys. */}}
{{- define "lipsync.env.secret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.secrets.existingSecret }}
      key: {{ index .root.Values.secrets.keys .key }}
{{- end -}}

{{/* For every container that connects to the operator's servers. */}}
{{- define "lipsync.env.caBundle" -}}
{{- if .Values.caBundle.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/ca-bundle/{{ .Values.caBundle.key }}
{{- end }}
{{- end -}}

{{/* Variables that every service reads. */}}
{{- define "lipsync.env.common" -}}
- name: NODE_ENV
  value: production
- name: LOG_LEVEL
  value: {{ .Values.logLevel }}
- name: PUBLIC_BASE_URL
  value: {{ .Values.publicBaseUrl | quote }}
- name: HEALTH_PORT
  value: "8081"
{{- with .Values.tracing.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ $.Values.tracing.samplingRatio | quote }}
{{ include "lipsync.env.secret" (dict "root" $ "name" "OTEL_EXPORTER_OTLP_HEADERS" "key" "otlpHeaders") }}
      optional: true
{{- end }}
{{- include "lipsync.env.caBundle" . }}
{{- end -}}

{{/* Postgres as one service reaches it: by the key of its own role if there is one. Takes root and key. */}}
{{- define "lipsync.env.database" -}}
{{- $key := ternary "databaseUrl" .key (empty (index .root.Values.secrets.keys .key)) -}}
{{ include "lipsync.env.secret" (dict "root" .root "name" "DATABASE_URL" "key" $key) }}
{{- end -}}

{{- define "lipsync.env.redis" -}}
{{ include "lipsync.env.secret" (dict "root" . "name" "REDIS_URL" "key" "redisUrl") }}
{{- end -}}

{{- define "lipsync.env.s3" -}}
- name: S3_ENDPOINT
  value: {{ .Values.s3.endpoint | quote }}
- name: S3_REGION
  value: {{ .Values.s3.region | quote }}
- name: S3_BUCKET
  value: {{ .Values.s3.bucket | quote }}
- name: S3_FORCE_PATH_STYLE
  value: {{ .Values.s3.forcePathStyle | quote }}
{{ include "lipsync.env.secret" (dict "root" . "name" "S3_ACCESS_KEY_ID" "key" "s3AccessKeyId") }}
{{ include "lipsync.env.secret" (dict "root" . "name" "S3_SECRET_ACCESS_KEY" "key" "s3SecretAccessKey") }}
{{- end -}}

{{/* For what signs uploads. Without this pair in the secret, the one above does. */}}
{{- define "lipsync.env.s3Uploads" -}}
{{ include "lipsync.env.secret" (dict "root" . "name" "S3_UPLOAD_ACCESS_KEY_ID" "key" "s3UploadAccessKeyId") }}
      optional: true
{{ include "lipsync.env.secret" (dict "root" . "name" "S3_UPLOAD_SECRET_ACCESS_KEY" "key" "s3UploadSecretAccessKey") }}
      optional: true
{{- end -}}

{{/* For services that encrypt or decrypt webhook secrets. The previous key is needed during re-encryption. */}}
{{- define "lipsync.env.masterKey" -}}
{{ include "lipsync.env.secret" (dict "root" . "name" "MASTER_KEY" "key" "masterKey") }}
{{ include "lipsync.env.secret" (dict "root" . "name" "MASTER_KEY_PREVIOUS" "key" "previousMasterKey") }}
      optional: true
{{- end -}}

{{/* For what deletes usage that is old enough. */}}
{{- define "lipsync.env.usageRetention" -}}
- name: USAGE_RETENTION_MONTHS
  value: {{ .Values.usage.retentionMonths | quote }}
{{- end -}}

{{/* For what estimates costs: those of a render, and those of a month. */}}
{{- define "lipsync.env.priceList" -}}
{{- with .Values.usage.priceList }}
- name: PRICE_LIST
  value: {{ toJson . | quote }}
{{- end }}
{{- end -}}

{{/* Additional variables of a service, from its `env`. */}}
{{- define "lipsync.env.further" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}
