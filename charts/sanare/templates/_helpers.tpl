{{- define "sanare.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sanare.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "sanare.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "sanare.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sanare.selector" -}}
app.kubernetes.io/name: {{ include "sanare.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sanare.labels" -}}
{{ include "sanare.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "sanare.account" -}}
{{- .Values.serviceAccount.name | default (ternary (include "sanare.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "sanare.agentAccount" -}}
{{- .Values.agent.serviceAccount.name | default (printf "%s-agent" (include "sanare.fullname" .)) -}}
{{- end -}}

{{- define "sanare.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The kinds that both accounts read, in the namespaces in scope. No Secrets. */}}
{{- define "sanare.readRules" -}}
- apiGroups: [""]
  resources:
    - configmaps
    - endpoints
    - events
    - limitranges
    - persistentvolumeclaims
    - pods
    - pods/log
    - replicationcontrollers
    - resourcequotas
    - serviceaccounts
    - services
  verbs: [get, list, watch]
- apiGroups: [apps]
  resources: [controllerrevisions, daemonsets, deployments, replicasets, statefulsets]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [get, list, watch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, networkpolicies]
  verbs: [get, list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch]
{{- end -}}

{{/* What the operator may do: its own objects, Events, looking, and Jobs where checks may make them. */}}
{{- define "sanare.operatorRules" -}}
{{- if .Values.rbac.operator.rules -}}
{{ toYaml .Values.rbac.operator.rules }}
{{- else -}}
- apiGroups: [sanare.dev]
  resources: [incidents]
  verbs: [get, list, watch, create]
- apiGroups: [sanare.dev]
  resources: [incidents/status]
  verbs: [get, patch]
- apiGroups: [sanare.dev]
  resources: [incidentrecords]
  verbs: [get, list, create]
- apiGroups: [sanare.dev]
  resources: [remediationpolicies]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
# Requests to a Service or a pod through the API server: is it reachable from outside of the pod?
- apiGroups: [""]
  resources: [pods/proxy, services/proxy]
  verbs: [get]
# Did a repair widen what the workload's account may do?
- apiGroups: [rbac.authorization.k8s.io]
  resources: [rolebindings, roles{{ if not .Values.rbac.namespaces }}, clusterrolebindings{{ end }}]
  verbs: [list]
{{- if .Values.checks.pods }}
# Jobs that answer declared checks, deleted when they have.
- apiGroups: [batch]
  resources: [jobs]
  verbs: [create, delete]
{{- end }}
{{ include "sanare.readRules" . }}
{{- end }}
{{- with .Values.rbac.operator.extraRules }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What repairs are made with. No Secrets, no RBAC, no exec, no tokens, nothing of the cluster's scope is written. */}}
{{- define "sanare.agentRules" -}}
{{- if .Values.rbac.agent.rules -}}
{{ toYaml .Values.rbac.agent.rules }}
{{- else -}}
{{ include "sanare.readRules" . }}
- apiGroups: [apps]
  resources: [daemonsets, deployments, statefulsets]
  verbs: [create, patch, update, delete]
- apiGroups: [apps]
  resources: [deployments/scale, replicasets/scale, statefulsets/scale]
  verbs: [get, patch, update]
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [create, patch, update, delete]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [patch, update]
- apiGroups: [""]
  resources: [configmaps, services]
  verbs: [create, patch, update, delete]
- apiGroups: [""]
  resources: [pods]
  verbs: [patch, delete]
{{- if .Values.rbac.agent.evictPods }}
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
{{- end }}
{{- if not .Values.rbac.namespaces }}
# Of the cluster's scope, what a pod's placement and volumes depend on, to read.
- apiGroups: [""]
  resources: [nodes, persistentvolumes]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]
  verbs: [get, list, watch]
{{- end }}
- apiGroups: [metrics.k8s.io]
  resources: [pods]
  verbs: [get, list]
{{- end }}
{{- with .Values.rbac.agent.extraRules }}
{{ toYaml . }}
{{- end }}
{{- end -}}
