#!/bin/sh
# cuda.sh ROOT CUDA_IMAGE_ROOT SERVICE
#
# Fills ROOT with what the CUDA execution provider of ONNX Runtime loads: the provider itself (cuda-provider.mjs), and
# NVIDIA's libraries from their own image. The NVIDIA container runtime adds the driver's libraries (libcuda, libnvcuvid,
# libnvidia-encode) to the container.
#
# ONNXRUNTIME_CUDA=skip leaves both out, for a machine that can reach neither: such an image has the structure of the
# real one but no CUDA.
set -eu
root=$1 image=$2 service=$3
libraries=$root/usr/lib/cuda
mkdir -p "$libraries"
[ "${ONNXRUNTIME_CUDA:-fetch}" != skip ] || { echo 'CUDA is left out: ONNXRUNTIME_CUDA=skip'; exit 0; }

# The package declares only the first ones; the others are loaded by those at run time. cuDNN 9 consists of many files.
lacking=
for name in libcudart.so.12 libcublas.so.12 libcublasLt.so.12 libcufft.so.11 libcurand.so.10 libcudnn.so.9 \
  libnvrtc.so.12 libnvrtc-builtins.so libnvJitLink.so.12 'libcudnn_*.so.9'; do
  found=$(find "$image/usr/local" "$image/usr/lib" -name "$name*" | sort)
  [ -n "$found" ] || lacking="$lacking $name"
  for file in $found; do
    # Copied under the name that it is loaded by, its soname, which may differ from the file's.
    soname=$(objdump -p "$file" | sed -n 's/^ *SONAME *//p')
    [ -n "$soname" ] || { echo "$file is no shared library" >&2; exit 1; }
    [ -e "$libraries/$soname" ] || cp --dereference "$file" "$libraries/$soname"
  done
done
[ -z "$lacking" ] || { echo "the CUDA image has no$lacking" >&2; exit 1; }

runtime=$(realpath "$service"/node_modules/.pnpm/onnxruntime-node@*/node_modules/onnxruntime-node)
node "$(dirname "$0")/cuda-provider.mjs" "$runtime" "$root/app${runtime#"$service"}"
