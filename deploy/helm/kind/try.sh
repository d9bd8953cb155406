#!/usr/bin/env bash
# Installs the chart on a cluster of its own (kind), in a namespace that enforces the restricted Pod Security Standard,
# renders a clip through it, upgrades, renders, rolls back, renders, and removes the cluster.
#   deploy/helm/kind/try.sh PREFIX TAG     the images PREFIX/<service>:TAG are on this machine
# Needs docker, kind, kubectl, helm, jq, and the demo of this checkout.
set -euo pipefail
prefix=$1 tag=$2
here=$(cd "$(dirname "$0")" && pwd)
chart=$here/../lipsync
cluster=lipsync-try
password=$(openssl rand -hex 16)

finish() {
  set +e
  # What the cluster knows of a failure is gone with it.
  if [ "$1" != 0 ]; then
    # If it was not made, the current one is another.
    kubectl --context "kind-$cluster" get pods --all-namespaces
    kubectl --context "kind-$cluster" get events --all-namespaces --sort-by .lastTimestamp
    kubectl --context "kind-$cluster" -n lipsync logs --selector app.kubernetes.io/instance=lipsync --prefix --tail 50
  fi
  kill $(jobs -p) 2>/dev/null
  kind delete cluster --name "$cluster"
}
trap 'finish $?' EXIT
kind create cluster --name "$cluster" --wait 120s
# The same image under another name: what an upgrade rolls to.
for service in api media-worker webhook-dispatcher gpu-worker; do
  docker tag "$prefix/$service:$tag" "$prefix/$service:$tag-next"
  kind load docker-image --name "$cluster" "$prefix/$service:$tag" "$prefix/$service:$tag-next"
done

kubectl create namespace data
kubectl -n data create secret generic servers --from-literal=password="$password"
kubectl apply -f "$here/servers.yaml"
kubectl -n data wait deployment --all --for=condition=Available --timeout=5m

kubectl create namespace lipsync
kubectl label namespace lipsync pod-security.kubernetes.io/enforce=restricted
kubectl -n lipsync create secret generic lipsync \
  --from-literal=DATABASE_URL="postgres://lipsync:$password@postgres.data.svc.cluster.local:5432/lipsync" \
  --from-literal=REDIS_URL="redis://:$password@redis.data.svc.cluster.local:6379" \
  --from-literal=S3_ACCESS_KEY_ID=lipsync --from-literal=S3_SECRET_ACCESS_KEY="$password" \
  --from-literal=MASTER_KEY="$(openssl rand -hex 32)"

admin() { kubectl -n lipsync exec deployment/lipsync-admin -- node dist/admin.js "$@"; }
apply() { # verb, tag, more options
  helm "$1" lipsync "$chart" -n lipsync "${@:3}" -f "$chart/examples/small.yaml" -f "$here/values.yaml" \
    --set "image.prefix=$prefix" --set "image.tag=$2" --timeout 10m
}
reach() {
  # A forwarded port ends with the pod that it leads to.
  kill $(jobs -p) 2>/dev/null || true
  kubectl -n lipsync port-forward service/lipsync-api 8080:80 >/dev/null &
  kubectl -n data port-forward service/s3 9000:9000 >/dev/null &
  for _ in $(seq 60); do curl -fs http://localhost:8080/openapi.json >/dev/null && return; sleep 1; done
  return 1
}
render() { npm run demo -- --target http://localhost:8080 --key "$key"; }

apply install "$tag"
kubectl -n lipsync rollout status deployment/lipsync-admin --timeout 5m
# Workers take no job before there is a bucket.
admin bucket create --cors
kubectl -n lipsync wait deployment --all --for=condition=Available --timeout=5m
reach
id=$(admin customers create try --json | jq -r .id)
key=$(admin keys issue "$id" --json | jq -r .api_key)
render
apply upgrade "$tag-next" --wait
reach
render
helm rollback lipsync -n lipsync --wait --timeout 10m
reach
render
echo 'installed, upgraded, rolled back; a clip was rendered each time'
