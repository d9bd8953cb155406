#!/bin/sh
# rootfs.sh ROOT BASE NAME…
#
# Fills ROOT with these programs and libraries, the shared libraries they load, and nothing else: no shell, no package
# manager. Files that BASE already contains are left out, so that ROOT can be a layer on top of it (`-`: no base). For
# every file from a Debian package, ROOT also gets the package's copyright and its entry in /var/lib/dpkg/status.d,
# where vulnerability scanners look in images without dpkg.
#
# Programs can be executed but not read. The kernel then lets no other process of their user, such as a hijacked decoder,
# read their environment or their memory, which in process 1 and in every Node contain the secrets.
set -eu
root=$1 base=$2
shift 2

locate() {
  case $1 in
    lib*.so*) ldconfig -p | sed -n "s|^[[:space:]]*$1 .*=> ||p" | head -1 ;;
    *) command -v "$1" ;;
  esac
}

files=
for name in "$@"; do
  path=$(locate "$name")
  [ -n "$path" ] || { echo "there is no $name" >&2; exit 1; }
  # The libraries under the names they are loaded by, and the loader itself.
  libraries=$(ldd "$path" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\).*/\1/p')
  files="$files $path $libraries"
done

mkdir -p "$root/etc" "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/sbin" "$root/var/lib/dpkg/status.d"
for name in bin lib lib64 sbin; do ln -sfn "usr/$name" "$root/$name"; done

for file in $files; do
  # /lib is a link to /usr/lib, in ROOT too; packages are recorded by the latter.
  target=$(realpath "$(dirname "$file")")/$(basename "$file")
  [ ! -e "$root$target" ] || continue
  [ "$base" = - ] || [ ! -e "$base$target" ] || continue
  mkdir -p "$root$(dirname "$target")"
  cp --dereference --preserve=mode "$file" "$root$target"
  case $target in */bin/*) chmod 0111 "$root$target" ;; esac
  package=$(dpkg --search "$(realpath "$file")" 2>/dev/null | head -1 | cut -d: -f1)
  [ -n "$package" ] || continue
  dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
  mkdir -p "$root/usr/share/doc/$package"
  cp --dereference "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/"
done
