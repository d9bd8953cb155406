#!/bin/sh
# stand-in-cuda.sh FOLDER
#
# Makes empty libraries in place of the files that cuda.sh downloads, for try-cuda.sh. They have the names, versions,
# links and locations of the originals, and only the functions that ONNX Runtime calls before it uses the provider.
#
#   FOLDER/image               NVIDIA's base image
#   FOLDER/image-without-cufft
#   FOLDER/provider.nupkg      the package of ONNX Runtime's provider
#   FOLDER/demanding.nupkg     with a provider that is linked with a library that nobody brings
#   FOLDER/provider.tgz        the package of the npm registry
set -eu
folder=$1
toolkit=$folder/image/usr/local/cuda-12.9/targets/x86_64-linux/lib
cudnn=$folder/image/usr/lib/x86_64-linux-gnu
native=$folder/package/runtimes/linux-x64/native
mkdir -p "$toolkit" "$cudnn" "$native" "$folder/elsewhere"

library() { # file, the name it is asked for by, what it is made of and linked with
  file=$1 soname=$2
  shift 2
  gcc -shared -Wl,--no-as-needed,-soname,"$soname" -o "$file" -x c /dev/null -x none "$@"
}
# As library packages do: the file under its full version, and a link.
installed() { # folder, file, the name it is asked for by
  library "$1/$2" "$3"
  ln -sf "$2" "$1/$3"
}

library "$folder/elsewhere/libcuda.so.1" libcuda.so.1
library "$folder/elsewhere/libnobody.so.1" libnobody.so.1
installed "$toolkit" libcudart.so.12.9.79 libcudart.so.12
installed "$toolkit" libcublas.so.12.9.1.4 libcublas.so.12
installed "$toolkit" libcublasLt.so.12.9.1.4 libcublasLt.so.12
installed "$toolkit" libcufft.so.11.4.1.4 libcufft.so.11
installed "$toolkit" libcurand.so.10.3.10.19 libcurand.so.10
installed "$toolkit" libnvJitLink.so.12.9.86 libnvJitLink.so.12
installed "$toolkit" libnvrtc-builtins.so.12.9.86 libnvrtc-builtins.so.12.9
# Another build of the same library, with the same soname. Using it by mistake fails the check.
library "$toolkit/libnvrtc.alt.so.12.9.86" libnvrtc.so.12 "$folder/elsewhere/libnobody.so.1"
installed "$toolkit" libnvrtc.so.12.9.86 libnvrtc.so.12
for part in '' _adv _cnn _engines_precompiled _engines_runtime_compiled _graph _heuristic _ops; do
  installed "$cudnn" "libcudnn$part.so.9.10.2" "libcudnn$part.so.9"
done
ln -s /etc/alternatives/cuda "$folder/image/usr/local/cuda"

cp -a "$folder/image" "$folder/image-without-cufft"
rm "$folder/image-without-cufft/usr/local/cuda-12.9/targets/x86_64-linux/lib/"libcufft*

libraries() { # what the provider is linked with beside the usual
  library "$native/libonnxruntime_providers_shared.so" libonnxruntime_providers_shared.so "$folder/elsewhere/shared.c"
  # The driver last: if only it is missing, the loader has found all others.
  library "$native/libonnxruntime_providers_cuda.so" libonnxruntime_providers_cuda.so \
    "$native/libonnxruntime_providers_shared.so" "$toolkit/libcublasLt.so.12" "$toolkit/libcublas.so.12" \
    "$toolkit/libcurand.so.10" "$toolkit/libcudart.so.12" "$@" "$folder/elsewhere/libcuda.so.1"
}
package() { # file, what its provider is linked with beside the usual
  nupkg=$1
  shift
  libraries "$@"
  # NuGet stores no file modes in a package.
  chmod 000 "$native"/*
  (cd "$folder/package" && zip -q -r "$nupkg" runtimes)
  rm "$native"/*
}
echo 'void Provider_SetHost(void *host) {}' >"$folder/elsewhere/shared.c"
package "$folder/provider.nupkg"
package "$folder/demanding.nupkg" "$folder/elsewhere/libnobody.so.1"

libraries
plugins=$folder/npm/package/Plugins/Linux
mkdir -p "$plugins"
mv "$native" "$plugins/x64"
tar -czf "$folder/provider.tgz" -C "$folder/npm" package
