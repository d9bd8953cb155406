#!/bin/bash
# Builds gpu-worker-cuda, and gpu-tools on it, completely on a machine that reaches neither NVIDIA's image nor NuGet, with
# stand-ins for both. Also checks that bad builds fail: with a package other than the pinned one, without a CUDA library,
# with a provider that lacks one.
#
#   deploy/docker/try-cuda.sh
#
# Leaves lipsync/gpu-worker-cuda:stand-in and lipsync/gpu-tools:stand-in behind: images with empty libraries, for
# inspection. Requires Docker with BuildKit, whose builds can reach its containers (not buildx in a container of its
# own), and the base images (base-images.sh where there is no registry).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
package=microsoft.ml.onnxruntime.gpu.linux
target=gpu-worker-cuda
version=$(sed -n 's/^  onnxruntime-node@\([0-9.]*\):$/\1/p' "$root/pnpm-lock.yaml" | head -1)
node_image=$(sed -n 's/^ARG NODE_IMAGE=//p' "$here/Dockerfile")
network=${BUILD_NETWORK:-default}
work=$(mktemp -d)
server=
trap 'rm -rf "$work"; [ -z "$server" ] || docker rm --force "$server" >/dev/null' EXIT
export DOCKER_BUILDKIT=1

cp "$here/stand-in-cuda.sh" "$here/stand-in-nuget.mjs" "$work"
cat >"$work/Dockerfile" <<END
FROM $node_image AS made
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev zip >/dev/null
COPY stand-in-cuda.sh /
RUN /stand-in-cuda.sh /made

FROM scratch AS cuda
LABEL org.lipsync.stand-in="empty libraries, not CUDA"
COPY --from=made /made/image /

FROM scratch AS cuda-without-cufft
LABEL org.lipsync.stand-in="empty libraries, not CUDA"
COPY --from=made /made/image-without-cufft /

FROM $node_image AS nuget
LABEL org.lipsync.stand-in="two packages of empty libraries, not NuGet"
COPY --from=made /made/*.nupkg /
COPY stand-in-nuget.mjs /
CMD ["node", "/stand-in-nuget.mjs", "8080", "$package", "$version", "/provider.nupkg", "/demanding.nupkg"]
END
for target in cuda cuda-without-cufft nuget; do
  docker build --quiet --network "$network" --target "$target" --tag "lipsync-stand-in/$target" "$work" >/dev/null
done
server=$(docker run --detach lipsync-stand-in/nuget)
nuget=http://$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$server"):8080

build() { # the package's server, the CUDA image, further arguments
  docker build --progress plain --network "$network" --file "$here/Dockerfile" --target "$target" \
    --tag "lipsync/$target:stand-in" --label org.lipsync.stand-in='empty libraries, not CUDA' \
    --build-arg "NUGET=$nuget/$1" --build-arg "CUDA_IMAGE=lipsync-stand-in/$2" "${@:3}" "$root" >"$work/log" 2>&1
}
built() { # what it shows, arguments
  build "${@:2}" || { tail -40 "$work/log" >&2; exit 1; }
  echo "$1: built"
}
refused() { # what it shows, the line to be found, arguments
  ! build "${@:3}" || { echo "$1: was built" >&2; exit 1; }
  said "$1" "$2"
}
said() {
  grep --only-matching --max-count 1 --extended-regexp "$2" "$work/log" >"$work/line" ||
    { tail -40 "$work/log" >&2; echo "$1: nothing says $2" >&2; exit 1; }
  echo "$1: $(cat "$work/line")"
}

refused 'another package than was pinned' "$package $version has the SHA-512 .*, not c29tZSBvdGhlcg==" \
  provider.nupkg cuda --build-arg ONNXRUNTIME_CUDA_SHA512=c29tZSBvdGhlcg==
refused 'a server without the package' 'http.* answered 404' missing.nupkg cuda
refused 'a CUDA image without a library' 'the CUDA image has no libcufft\.so\.11' provider.nupkg cuda-without-cufft
refused 'a provider that lacks a library' '/libonnxruntime_providers_cuda\.so: libnobody\.so\.1 => not found' \
  demanding.nupkg cuda
built 'the published package' provider.nupkg cuda
docker logs "$server" | grep -q /catalog/ || echo '  (out of the build cache)'
hash=$(docker exec "$server" node -p \
  "require('node:crypto').createHash('sha512').update(fs.readFileSync('/provider.nupkg')).digest('base64')")
# Last, because this image remains: with the hash as an argument, no earlier package can come from the build cache.
built 'the pinned package' provider.nupkg cuda --build-arg "ONNXRUNTIME_CUDA_SHA512=$hash"

# ONNX Runtime must find the provider and everything that it is linked with, except the driver.
docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --entrypoint node lipsync/gpu-worker-cuda:stand-in --eval \
  "require('onnxruntime-node').InferenceSession.create('-', { executionProviders: ['cuda'] })" >"$work/log" 2>&1 || true
said 'the image' '/libonnxruntime_providers_cuda\.so with error: libcuda\.so\.1: cannot open.*'

target=gpu-tools
built 'the tools' provider.nupkg cuda --build-arg "ONNXRUNTIME_CUDA_SHA512=$hash"
docker run --rm --read-only --tmpfs /tmp --cap-drop ALL lipsync/gpu-tools:stand-in models cuda >"$work/log" 2>&1 || true
said 'the tools' 'not usable: libcuda\.so\.1: cannot open.*'
